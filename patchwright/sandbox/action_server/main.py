"""Start the server; this file is what Python runs when it is given the archive."""

from __future__ import annotations

import os
import signal
import sys

from patchwright.sandbox.action_server.protocol import HostChannel, read_config
from patchwright.sandbox.action_server.server import ActionServer

try:
    import ctypes
except ImportError:  # some images carry Python without libffi
    ctypes = None  # type: ignore[assignment]

# https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


def harden() -> None:
    # Process 1 gets only those signals of its children that it has a handler for, and
    # Python installs one for SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Without this a child of the same user could open /proc/1/fd and forge replies.
    _prctl(PR_SET_DUMPABLE, 0)
    os.umask(0o022)


def take_control_files() -> tuple[int, int]:
    """Move the control channel away from 0 and 1, where a child or a print finds it."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return read_fd, write_fd


def _prctl(option: int, value: int) -> None:
    if ctypes is not None:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main() -> None:
    harden()
    config = read_config(sys.argv[1])
    ActionServer(config, HostChannel(*take_control_files())).serve()


if __name__ == "__main__":
    main()
