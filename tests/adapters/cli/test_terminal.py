"""What somebody at a terminal sees of a run."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import PATCHWRIGHT, Shop
from tests.fakes.llm.provider import FakeProvider
from tests.flow.story import fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def look(
    folder: Path, environment: Mapping[str, str], columns: int, *arguments: str
) -> tuple[int, str]:
    """Run the command in a terminal of that width; return its code and all it wrote."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [str(PATCHWRIGHT), *arguments],
        cwd=folder,
        env={"TERM": "xterm-256color", **environment},
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
    )
    os.close(keyboard)
    shown = _read_all(screen)
    os.close(screen)
    return process.wait(), shown


def watch(shop: Shop, columns: int) -> list[str]:
    """Resolve the issue; return all lines that were ever shown."""
    with FakeProvider(fix_turns()) as provider:
        environment = shop.environment(provider)
        code, shown = look(shop.folder, environment, columns, "resolve", *shop.local())
    assert code == 0
    return [CONTROL.sub("", line) for line in re.split("[\r\n]+", shown)]


@pytest.mark.parametrize("columns", [40, 100])
def test_what_goes_on_fits_and_finished_steps_stay(columns: int, shop: Shop) -> None:
    lines = watch(shop, columns)
    ends_at = lines.index(next(line for line in lines if line.startswith("resolved")))
    live, result = lines[:ends_at], lines[ends_at:]
    assert [line for line in live if len(line) > columns] == []
    assert any("Reading the request" in line for line in live)
    # What goes on is cut, and not what it took.
    shown = [line for line in live if re.match(". Step 4", line)]
    assert any(re.search(r" · \d+s in all", one) for one in shown)
    assert "  1  write test_pieces.py  +8 -0" in live
    assert "  3  edit cart.py  +1 -1" in live
    at = live.index("  4  finish: Count every piece")
    assert at
    # A command is shown whole, however many lines it takes.
    first = next(n for n, line in enumerate(live) if line.startswith("  2  $ python3"))
    ends = next(n for n in range(first, len(live)) if "exit 1" in live[n])
    command = " ".join(line.strip() for line in live[first:ends])
    assert "python3 -m unittest test_pieces" in command
    assert any(line.startswith("branch:") for line in result)
    assert "patchwright/count-every-piece" in "".join(line.strip() for line in result)


@pytest.mark.parametrize(
    ("settings", "is_red"), [({}, True), ({"NO_COLOR": "1"}, False)]
)
def test_who_wants_no_colours_gets_none(
    shop: Shop, settings: dict[str, str], *, is_red: bool
) -> None:
    environment = shop.environment(None, settings)
    code, shown = look(shop.folder, environment, 80, "resolve")
    assert code == 2
    assert "say what to work on" in shown
    assert ("\x1b[1;31m" in shown) is is_red


def _read_all(screen: int) -> str:
    """Read until the last program that writes to the terminal has gone."""
    parts: list[bytes] = []
    while True:
        try:
            parts.append(os.read(screen, 1 << 16))
        except OSError:  # Linux says EIO, see pty(7)
            return b"".join(parts).decode()
