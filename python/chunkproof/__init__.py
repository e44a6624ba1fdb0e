# SPDX-License-Identifier: Apache-2.0
"""For chunkproof: prompt programs (spec/programs.md), and the converter of language models
(spec/weights.md)."""
