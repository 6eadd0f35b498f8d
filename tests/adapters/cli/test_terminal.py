"""What somebody at a terminal sees of a run."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from tests.adapters.cli.terminal import PATCHWRIGHT, Shop
from tests.fakes.llm import FakeProvider
from tests.flow.story import fix_turns

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def watch(shop: Shop, columns: int) -> list[str]:
    """Resolve the issue in a terminal of that width; return all it ever showed."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with FakeProvider(fix_turns()) as provider:
        process = subprocess.Popen(
            [str(PATCHWRIGHT), "resolve", *shop.local()],
            cwd=shop.folder,
            env={**shop.environment(provider), "TERM": "xterm-256color"},
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
        )
        os.close(keyboard)
        shown = _read_all(screen)
        assert process.wait() == 0
    os.close(screen)
    return [CONTROL.sub("", line) for line in re.split("[\r\n]+", shown)]


@pytest.mark.parametrize("columns", [40, 100])
def test_what_goes_on_fits_and_finished_steps_stay(columns: int, shop: Shop) -> None:
    lines = watch(shop, columns)
    ends_at = lines.index(next(line for line in lines if line.startswith("resolved")))
    live, result = lines[:ends_at], lines[ends_at:]
    assert [line for line in live if len(line) > columns] == []
    assert any("Reading the request" in line for line in live)
    # What goes on is cut, and not what it took.
    shown = [line for line in live if re.match(". Step 3", line)]
    assert any(re.search(r" · \d+s · \d+ tokens", one) for one in shown)
    assert "  1  write_file test_pieces.py" in live
    [second] = [line for line in live if line.startswith("  2  run_command")]
    assert second.endswith("  exit 1")
    assert "  3  edit_file cart.py" in live
    assert "branch: patchwright/count-every-piece" in result


def _read_all(screen: int) -> str:
    """Read until the last program that writes to the terminal has gone."""
    parts: list[bytes] = []
    while True:
        try:
            parts.append(os.read(screen, 1 << 16))
        except OSError:  # Linux says EIO, see pty(7)
            return b"".join(parts).decode()
