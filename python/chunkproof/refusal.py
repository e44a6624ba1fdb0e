# SPDX-License-Identifier: Apache-2.0
"""What the converter says of a model that it does not take."""


class Refusal(Exception):
    """The model or a file is not taken; the text says what, where, and what would mend it."""
