# SPDX-License-Identifier: Apache-2.0
"""Seeded faults: the catalogue of tests/faults/, and who must notice them (scripts/faults)."""
