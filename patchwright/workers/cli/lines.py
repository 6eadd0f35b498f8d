"""Print one line: cut to fit a terminal, whole where nobody looks at its width."""

from rich.console import Console
from rich.text import Text


def print_line(console: Console, text: Text, remark: Text | None = None) -> None:
    """Print a text, and what became of it in brighter words that are cut last."""
    tail = Text("  ").append_text(remark) if remark else Text()
    if console.is_terminal:
        tail.truncate(console.width // 2, overflow="ellipsis")
        text.truncate(console.width - tail.cell_len, overflow="ellipsis")
    console.print(text.append_text(tail), soft_wrap=True)
