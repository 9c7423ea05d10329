"""Programs that pretend to be weft, in a folder that is removed with the test."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock


class FolderTest(unittest.TestCase):
    """Has a folder of its own, and an environment in which no program is named or found."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = {name: value for name, value in os.environ.items() if name != "WEFT"}
        environment.update(PATH="/usr/bin:/bin", TMPDIR=folder.name)
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def program(self, body: str, name: str = "weft") -> Path:
        """A shell script with this text."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)
        return file
