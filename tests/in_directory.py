# SPDX-License-Identifier: Apache-2.0
"""A directory of its own, with a cache of its own, for a test of the scripts."""

import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        settings = {
            "XDG_CACHE_HOME": str(self.directory),
            "CACHE": "",
            "TIER": "default",
            "CACHE_MIB": "",
        }
        patch = mock.patch.dict(os.environ, settings)
        patch.start()
        self.addCleanup(patch.stop)

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path
