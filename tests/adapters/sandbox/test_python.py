"""The lasting Python: variables, output, limits and endings."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from patchwright.core.events.actions import RunIpython
from patchwright.core.events.observations import ErrorObservation, IpythonOutput
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.local.runtimes import UnconfinedRuntimes
from tests.adapters.sandbox.box import IDS, Box

PLAIN = "This is plain Python 3."
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def py(box: Box, code: str, timeout_s: float | None = None) -> IpythonOutput:
    output = box.do(RunIpython(code=code, timeout_s=timeout_s))
    assert isinstance(output, IpythonOutput), output
    return output


def test_variables_last_and_the_last_value_is_shown(box: Box) -> None:
    first = py(box, "x = 20\nprint('set')")
    assert (first.output, first.failed) == ("set\n", False)
    assert py(box, "y = x + 1\ny * 2").output == "42\n"
    assert py(box, "None").output == ""
    assert py(box, "").output == ""


def test_the_first_use_says_which_python_it_is(fresh: Box) -> None:
    assert py(fresh, "1").note.startswith(PLAIN)
    assert py(fresh, "1").note == ""


def test_a_traceback_shows_the_code_and_not_ours(box: Box) -> None:
    failed = py(box, "def f():\n    return 1 / 0\nf()")
    assert failed.failed
    assert failed.output.startswith("Traceback (most recent call last):\n")
    assert "    return 1 / 0\n" in failed.output
    assert failed.output.endswith("ZeroDivisionError: division by zero\n")
    assert "patchwright" not in failed.output


def test_a_syntax_error_is_the_codes(box: Box) -> None:
    failed = py(box, "print('never')\nif")
    assert failed.failed
    assert "SyntaxError" in failed.output
    assert "never" not in failed.output


def test_leaving_does_not_end_the_interpreter(box: Box) -> None:
    py(box, "kept = 'kept'")
    assert py(box, "import sys; sys.exit(3)").failed
    assert not py(box, "sys.exit()").failed
    assert py(box, "kept").output == "'kept'\n"


def test_the_repository_is_where_it_runs_but_cannot_replace_our_modules(
    fresh: Box,
) -> None:
    for name in ("signal.py", "importlib.py", "traceback.py", "mine.py"):
        fresh.runtime.upload(f"/workspace/repo/{name}", b"word = 'theirs'\n")
    assert py(fresh, "import mine; mine.word").output == "'theirs'\n"
    assert py(fresh, "import os; os.getcwd()").output == "'/workspace/repo'\n"
    assert py(fresh, "import patchwright").failed


def test_what_subprocesses_print_is_captured(box: Box) -> None:
    code = "import subprocess; subprocess.run(['echo', 'from below']).returncode"
    assert py(box, code).output == "from below\n0\n"


def test_a_question_meets_the_end_of_the_input(box: Box) -> None:
    asked = py(box, "input('name? ')")
    assert asked.failed
    assert "EOFError" in asked.output


def test_a_long_output_keeps_head_and_tail_and_names_the_file_with_all(
    box: Box,
) -> None:
    output = py(box, "for number in range(20000): print(number)")
    lines = output.output.splitlines()
    assert (lines[0], lines[-1]) == ("0", "19999")
    assert output.dropped_bytes > 80_000
    path = output.note.removeprefix("The whole output is in ").removesuffix(".")
    assert box.runtime.download(path, 1 << 20).endswith(b"\n19999\n")


def test_past_its_limit_code_is_interrupted_and_variables_last(box: Box) -> None:
    py(box, "kept = 1")
    stopped = py(box, "import time\nprint('begun')\ntime.sleep(60)", timeout_s=0.3)
    assert stopped.failed
    assert stopped.output.startswith("begun\nTraceback")
    assert "KeyboardInterrupt" in stopped.output
    assert stopped.note == "Interrupted after 0.3 s."
    assert py(box, "kept").output == "1\n"


STUBBORN = """
import time
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        print('no', flush=True)
"""


def test_code_that_does_not_stop_costs_the_variables(fresh: Box) -> None:
    py(fresh, "kept = 1")
    stopped = py(fresh, STUBBORN, timeout_s=0.2)
    assert stopped.output == "no\n"
    assert stopped.note == (
        "Interrupted after 0.2 s. The interpreter ended and is started again; its"
        " variables are lost."
    )
    again = py(fresh, "'kept' in dir()")
    assert again.output == "False\n"
    assert again.note.startswith(PLAIN)


@pytest.mark.parametrize("code", ["while True: pass", STUBBORN])
def test_a_cancelled_piece_of_code_returns_at_once(box: Box, code: str) -> None:
    action_id = IDS.new()
    proof = f"/tmp/{box.folder}"
    with ThreadPoolExecutor(1) as pool:
        action = RunIpython(code=f"open({proof!r}, 'w').write('1')\n{code}")
        running = pool.submit(box.runtime.run, action, action_id)
        box.sh(f"until [ -s {proof} ]; do sleep 0.02; done")
        began = time.monotonic()
        box.runtime.cancel(action_id)
        cancelled = running.result(10)
    assert time.monotonic() - began < 0.5
    assert isinstance(cancelled, IpythonOutput)
    assert "Cancelled:" in cancelled.note
    assert py(box, "1 + 1").output == "2\n"


def test_a_crash_is_an_error_and_the_next_call_starts_anew(fresh: Box) -> None:
    crash = "import os\nprint('last words', flush=True)\nos._exit(9)"
    crashed = fresh.do(RunIpython(code=crash))
    assert isinstance(crashed, ErrorObservation)
    assert crashed.reason == "interpreter-ended"
    assert "ended with exit code 9" in crashed.text
    assert "last words" in crashed.text
    assert py(fresh, "1 + 1").output == "2\n"


def test_an_interpreter_killed_between_two_calls_is_replaced(fresh: Box) -> None:
    pid = py(fresh, "import os; os.getpid()").output.strip()
    fresh.sh(f"kill -9 {pid}; until [ ! -e /proc/{pid} ]; do :; done")
    again = py(fresh, "'os' in dir()")
    assert again.output == "False\n"
    assert again.note.startswith("The interpreter ended and is started again")


def test_a_fork_of_the_code_ends_with_it(box: Box) -> None:
    assert py(box, "import os\npid = os.fork()").output == ""
    assert py(box, "os.waitpid(pid, 0)[1]").output == "0\n"


def test_a_second_piece_of_code_waits_its_turn_elsewhere(box: Box) -> None:
    action_id = IDS.new()
    proof = f"/tmp/{box.folder}"
    with ThreadPoolExecutor(1) as pool:
        slow = RunIpython(code=f"open({proof!r}, 'w').write('1')\nwhile True: pass")
        running = pool.submit(box.runtime.run, slow, action_id)
        box.sh(f"until [ -s {proof} ]; do sleep 0.02; done")
        assert box.refusal(RunIpython(code="1")).reason == "busy"
        box.runtime.cancel(action_id)
        running.result(10)


def test_a_piece_of_code_runs_once(box: Box) -> None:
    py(box, "count = 0")
    action = RunIpython(code="count += 1; count")
    first = box.runtime.run(action, "cell-1")
    assert box.runtime.run(action, "cell-1") == first


def test_running_out_of_memory_is_named(fresh: Box) -> None:
    output = fresh.do(RunIpython(code="x = bytearray(10**10)"))
    text = output.output if isinstance(output, IpythonOutput) else output.model_dump()
    assert "MemoryError" in str(text) or "memory limit" in str(text)
    assert py(fresh, "1 + 1").output == "2\n"


@pytest.fixture
def with_ipython(spec: SandboxSpec) -> Iterator[Box]:
    """Start a sandbox whose Python is that of the tests, which has IPython."""
    environment = {"PATH": f"{sys.prefix}/bin:{SYSTEM_PATH}"}
    runtime = UnconfinedRuntimes().start(
        spec.replace(environment=environment, memory="4g")
    )
    yield Box(runtime)
    runtime.close()


def test_ipython_is_used_where_there_is_one(with_ipython: Box) -> None:
    first = py(with_ipython, "x = 20\nx + 1")
    assert first.note.startswith("This is IPython on Python 3.")
    assert first.output == "Out[1]: 21\n"
    assert py(with_ipython, "!echo from $x").output == "from 20\n"
    assert py(with_ipython, "%pwd").output.strip().endswith("repo'")
    failed = py(with_ipython, "1 / 0")
    assert failed.failed
    assert "ZeroDivisionError" in failed.output
    assert "\x1b" not in failed.output


def test_ipython_can_be_interrupted_and_left(with_ipython: Box) -> None:
    py(with_ipython, "kept = 1")
    stopped = py(with_ipython, "while True: pass", timeout_s=0.3)
    assert stopped.failed
    assert "KeyboardInterrupt" in stopped.output
    py(with_ipython, "import sys; sys.exit(0)")
    py(with_ipython, "exit")
    assert py(with_ipython, "kept").output.endswith("1\n")
