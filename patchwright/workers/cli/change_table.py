"""The files of a change at a terminal, with the lines added and removed."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from patchwright.core.text.strings import count_noun
from patchwright.core.types.work import FileStat
from patchwright.workers.cli.terminal import shorten_middle

_MOST_FILES: Final = 15
_MOST_CHARS: Final = 60


def change_lines(files: Sequence[FileStat]) -> Iterator[Text]:
    """Yield a line for each file, as many as may be, and their sum."""
    if not files:
        return
    shown = files[:_MOST_FILES]
    names = [shorten_middle(one.path, _MOST_CHARS) for one in shown]
    width = max(map(len, names))
    added = max(len(str(one.insertions)) for one in shown) + 1
    for name, one in zip(names, shown, strict=True):
        plus = f"+{one.insertions}" if one.insertions else ""
        minus = f"-{one.deletions}" if one.deletions else ""
        line = Text(f"  {name:<{width}}  ")
        line.append(f"{plus:>{added}}", style="green")
        line.append(f" {minus}" if minus else "", style="red")
        line.rstrip()
        yield line
    if len(files) > len(shown):
        yield Text(f"  … and {len(files) - len(shown)} more")
    yield Text(f"  {_sum(files)}", style="dim")


def _sum(files: Sequence[FileStat]) -> str:
    added = sum(one.insertions for one in files)
    removed = sum(one.deletions for one in files)
    lines = [
        f"{count_noun(added, 'line')} added" if added else "",
        f"{removed} removed" if removed else "",
    ]
    counted = ", ".join(filter(None, lines))
    changed = f"{count_noun(len(files), 'file')} changed"
    return f"{changed}: {counted}" if counted else changed
