"""Try out the sandbox this runs in: `probe.py MEMORY_MIB PROCESSES` prints JSON."""

import json
import mmap
import os
import platform
import signal
import socket
import sys
import time

# Reserved for documentation: no machine has it. Nothing is sent; a datagram socket only
# looks up the route.
# https://www.rfc-editor.org/rfc/rfc5737
_MOMENT_S = 3.0
_UNUSED_ADDRESS = ("198.51.100.1", 9)


def main(memory_mib: int, processes: int) -> None:
    found = {
        "python": platform.python_version(),
        "is_root": os.getuid() == 0,
        "has_network": _has_network(),
        "holds_memory": _holds_memory(memory_mib) and _holds_shared(memory_mib),
        "holds_processes": _holds_processes(processes),
    }
    sys.stdout.write(json.dumps(found) + "\n")


def _has_network() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(_UNUSED_ADDRESS)
        except OSError:
            return False
    return True


def _holds_memory(mib: int) -> bool:
    """Tell whether a child that takes twice as much is stopped."""
    child = os.fork()
    if child == 0:
        try:
            taken = b"x" * (2 * mib << 20)
        except MemoryError:
            os._exit(1)
        os._exit(0 if taken else 1)
    return os.waitpid(child, 0)[1] != 0


def _holds_shared(mib: int) -> bool:
    """Tell whether a child that shares as much with its kin is stopped."""
    child = os.fork()
    if child == 0:
        taken = mmap.mmap(-1, 2 * mib << 20)
        for at in range(0, len(taken), mmap.PAGESIZE):
            taken[at] = 1
        # Who only watches may need a moment.
        time.sleep(_MOMENT_S)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def _holds_processes(most: int) -> bool:
    """Tell whether so many children cannot all be had; none of them is left."""
    children: list[int] = []
    try:
        # Those before the one that cannot be had are in the list all the same.
        children.extend(_sleeper() for _ in range(most))
    except OSError:
        return True
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return False


def _sleeper() -> int:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    return child


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
