"""What every test of the command line starts from."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    # The sandbox of root's runs is nobody's, who cannot look into pytest's folders.
    with tempfile.TemporaryDirectory(prefix="test-cli-") as tmp:
        Path(tmp).chmod(0o711)
        yield Shop(tmp_path, Path(tmp))
