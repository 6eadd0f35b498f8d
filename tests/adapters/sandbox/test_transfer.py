"""Files to and from a sandbox."""

import pytest

from patchwright.core.types.errors import SandboxError
from tests.adapters.sandbox.box import Box


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (5 << 20) + 3])
def test_bytes_arrive_as_they_were(box: Box, size: int) -> None:
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    box.runtime.upload("/workspace/context/deep/file", data)
    assert box.runtime.download("/workspace/context/deep/file", size) == data


def test_an_upload_replaces_a_longer_file(box: Box) -> None:
    box.runtime.upload("/workspace/file", b"longer")
    box.runtime.upload("/workspace/file", b"short")
    assert box.runtime.download("/workspace/file", 100) == b"short"


def test_a_file_that_is_too_large_is_refused(box: Box) -> None:
    box.runtime.upload("/workspace/file", b"x" * 11)
    with pytest.raises(SandboxError, match="has 11 bytes; at most 10"):
        box.runtime.download("/workspace/file", 10)


def test_a_path_outside_the_workspace_is_refused(box: Box) -> None:
    with pytest.raises(SandboxError, match="not under /workspace"):
        box.runtime.upload("/tmp/file", b"")
    with pytest.raises(SandboxError, match="not under /workspace"):
        box.runtime.download("/etc/passwd", 1 << 20)


def test_a_missing_file_is_named(box: Box) -> None:
    with pytest.raises(SandboxError, match="/workspace/none"):
        box.runtime.download("/workspace/none", 10)
