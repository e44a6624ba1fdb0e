# SPDX-License-Identifier: Apache-2.0
"""Seeded faults: the catalogue of tests/faults/, and those who must notice them (scripts/faults)."""
