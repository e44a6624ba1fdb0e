# SPDX-License-Identifier: Apache-2.0
"""Language models for `chunkproof model`: the converter and its file format, spec/weights.md."""
