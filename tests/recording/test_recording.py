"""A recording is what the command showed, at a pace that can be read."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tests.recording.__main__ import main
from tests.recording.cast import RecordingError, Size, Written, record
from tests.recording.frames import IDLE_S, LAST_S, LINE_S, Frame, paced, play, typed
from tests.recording.picture import draw

SIZE = Size(columns=12, rows=3)
NAME = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 300_000


def texts(frame: Frame) -> list[str]:
    """Return the lines of a frame, each from its first sign on."""
    return [" ".join(span.text for span in row) for row in frame.rows]


def test_a_command_is_recorded_on_a_terminal_and_gets_its_enter() -> None:
    code = (
        "import sys; print(sys.stdout.isatty(), flush=True); "
        "input('Press Enter to end: '); print('ended')"
    )
    said = record([sys.executable, "-c", code], SIZE)
    shown = "".join(one.text for one in said)
    assert shown.splitlines() == ["True", "Press Enter to end: ", "ended"]


def test_a_command_that_fails_makes_no_picture(tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    argv = [sys.executable, "-c", "print('broken'); raise SystemExit(3)"]
    with pytest.raises(RecordingError, match=r"ended with 3:\nbroken"):
        record(argv, SIZE)
    assert main(file, "it", argv) == 1
    assert not file.exists()


def test_paths_of_this_machine_are_not_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "picture.svg"
    code = "import sys; print(sys.prefix)"
    assert main(file, "it", [sys.executable, "-c", code]) == 1
    assert "the command showed paths of this machine" in capsys.readouterr().err
    assert not file.exists()


def test_waits_are_shortened_and_bursts_spread() -> None:
    said = [Written(30.0, "one\ntwo\n"), Written(0.01, "three\n")]
    assert list(paced(said)) == [
        Written(IDLE_S, "one\n"),
        Written(LINE_S, "two\n"),
        Written(0.01, "three\n"),
    ]


def test_a_line_that_is_written_over_is_shown_as_it_was_each_time() -> None:
    said = [
        Written(0, "working\r"),
        Written(1, "\x1b[2Kdone\r\n"),
        Written(1, "\x1b[32mgreen\x1b[0m"),
    ]
    frames = play(said, SIZE)
    assert [texts(frame) for frame in frames] == [
        ["working", "", ""],
        ["done", "", ""],
        ["done", "green", ""],
    ]
    assert [frame.seconds for frame in frames] == [1, 1, LAST_S]
    assert frames[2].rows[1][0].look.colour == "green"


def test_a_clock_that_runs_for_long_is_not_watched() -> None:
    said = [Written(1, f"\r⠋ idle {second}s") for second in range(60)]
    frames = play([*said, Written(1, "\x1b[2K\rdone")], SIZE)
    shown = [" ".join(texts(frame)).strip() for frame in frames]
    assert shown == ["⠋ idle 0s", "⠋ idle 1s", "done"]


def test_a_wide_sign_keeps_its_two_columns() -> None:
    [frame] = play([Written(0, "a 🟢 ok")], SIZE)
    places = [(span.column, span.width, span.text) for span in frame.rows[0]]
    assert places == [(0, 1, "a"), (2, 2, "🟢"), (5, 2, "ok")]


def test_a_picture_plays_all_frames_and_draws_a_line_once() -> None:
    frames = play([*typed("run it"), Written(1, "<b>&\r\n")], SIZE)
    picture = ET.fromstring(draw(frames, SIZE, 'A "title"'))
    film = picture.findall(f".//{NAME}g[@class='film']/{NAME}svg")
    assert len(film) == len(frames)
    lines = picture.findall(f"{NAME}defs/{NAME}g")
    assert len(lines) == len({row for frame in frames for row in frame.rows if row})
    assert "<b>&" in [text.text for text in picture.iter(f"{NAME}text")]
    style = picture.findtext(f"{NAME}style") or ""
    assert style.count("translateY") == len(frames) + 2
    assert "infinite" in style
    assert "prefers-reduced-motion" in style


def test_the_recording_in_the_readme_is_whole_and_small() -> None:
    file = ROOT / "docs" / "images" / "demo.svg"
    content = file.read_text()
    shown = "".join(ET.fromstring(content).itertext())
    assert file.stat().st_size < MOST_BYTES
    assert "make demo" in shown
    assert "Proven" in shown
    assert not any(path in content for path in ("/root", "/home/", "/work", "/tmp"))
    assert "(docs/images/demo.svg)" in (ROOT / "README.md").read_text()
