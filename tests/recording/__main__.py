"""Record a command: `python -m tests.recording PICTURE SHOWN COMMAND...`."""

import sys
from pathlib import Path

from tests.recording.cast import RecordingError, Size, Written, record
from tests.recording.frames import paced, play, typed
from tests.recording.picture import draw

SIZE = Size(columns=88, rows=28)


def main(picture: Path, shown: str, argv: list[str]) -> int:
    """Write the picture of the command, which is shown under a shorter name."""
    try:
        said = record(argv, SIZE)
        _refuse_own_paths(said)
    except RecordingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    frames = play([*typed(shown), *paced(said)], SIZE)
    picture.write_text(draw(frames, SIZE, f"A terminal, in which {shown} runs"))
    seconds = sum(frame.seconds for frame in frames)
    size = picture.stat().st_size // 1000
    sys.stdout.write(f"{picture}: {len(frames)} frames, {seconds:.0f} s, {size} kB\n")
    return 0


def _refuse_own_paths(said: tuple[Written, ...]) -> None:
    """Refuse to publish where things are on this machine."""
    text = "".join(one.text for one in said)
    own = {str(Path.cwd()), str(Path.home()), sys.prefix} - {"/"}
    if found := sorted(path for path in own if path in text):
        raise RecordingError(f"the command showed paths of this machine: {found}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
