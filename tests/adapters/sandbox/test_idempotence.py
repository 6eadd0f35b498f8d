"""An action id is carried out once, however often it is asked for."""

from concurrent.futures import ThreadPoolExecutor

from patchwright.core.events.actions import RunCommand, WriteFile
from patchwright.core.events.observations import CommandOutput
from tests.adapters.sandbox.box import IDS, Box


def test_the_same_id_again_returns_the_same_result(box: Box) -> None:
    action = RunCommand(command="echo x >> /tmp/count; wc -l < /tmp/count")
    action_id = IDS.new()
    first = box.runtime.run(action, action_id)
    assert box.runtime.run(action, action_id) == first
    assert box.runtime.run(action, IDS.new()) != first


def test_the_same_id_while_it_runs_is_one_run(box: Box) -> None:
    action = RunCommand(
        command="echo x >> /tmp/slow; sleep 0.3; wc -l < /tmp/slow",
        session=box.session,
    )
    action_id = IDS.new()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(box.runtime.run, action, action_id) for _ in range(4)]
        results = [one.result() for one in asked]
    assert all(result == results[0] for result in results)
    assert isinstance(results[0], CommandOutput)
    assert results[0].output == "1\n"


def test_a_result_that_is_no_longer_known_is_not_made_again(fresh: Box) -> None:
    action_id = IDS.new()
    fresh.runtime.run(WriteFile(path="a.txt", content="first"), action_id)
    for number in range(130):
        fresh.runtime.run(RunCommand(command=":"), f"filler-{number}")
    fresh.write_file("a.txt", "second")
    again = fresh.runtime.run(WriteFile(path="a.txt", content="first"), action_id)
    assert again.kind == "error"
    assert fresh.bytes_of("a.txt") == b"second"


def test_the_tool_call_comes_back_with_the_result(box: Box) -> None:
    action = RunCommand(command="true", session=box.session, call_id="call-7")
    assert box.do(action).call_id == "call-7"


def test_sessions_run_side_by_side(box: Box) -> None:
    slow = box.sh("sleep 30", timeout_s=0.1)
    other = Box(box.runtime)
    assert other.sh("echo quick").output == "quick\n"
    box.kill(slow)


def test_many_sessions_make_room_for_new_ones(fresh: Box) -> None:
    for _ in range(40):
        assert Box(fresh.runtime).sh("echo one").output == "one\n"
