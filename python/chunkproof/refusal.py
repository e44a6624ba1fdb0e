# SPDX-License-Identifier: Apache-2.0
"""What the package says of a model, a program or an argument that it does not take."""


class Refusal(Exception):
    """Something is not taken; the text says what, where, and what would mend it."""
