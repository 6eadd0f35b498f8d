"""Who belongs to a shell."""

import os

from patchwright.sandbox.action_server.processes import (
    Process,
    find_descendants,
    read_process,
)


def process(pid: int, parent: int, session: int) -> Process:
    return Process(pid, "x", "S", parent, session, 1)


def test_children_of_children_and_the_session_belong_together() -> None:
    shell, child, grandchild = (
        process(10, 1, 10),
        process(11, 10, 10),
        process(9, 11, 9),
    )
    orphan, stranger = process(13, 1, 10), process(14, 1, 14)
    table = [grandchild, stranger, child, orphan, shell]
    found = {one.pid for one in find_descendants(10, table)}
    assert found == {9, 11, 13}


def test_this_process_can_be_read() -> None:
    found = read_process(os.getpid())
    assert found is not None
    assert found.parent == os.getppid()
    assert found.session == os.getsid(0)


def test_a_process_that_is_gone_is_none() -> None:
    assert read_process(2**22 + 1) is None
