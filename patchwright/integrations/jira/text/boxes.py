"""Tell lists of tasks from others, and show boxes where Jira has none."""

from typing import Final

from patchwright.core.text.document.types import Blocks, ListItem, ListBlock, Paragraph, PlainText

_BOXES: Final = {True: "☑ ", False: "☐ "}


def is_task_list(items: ListBlock) -> bool:
    """Tell whether each entry has a box, a line of words, and no more than tasks."""
    return items.start is None and all(map(_is_task, items.items))


def with_checkbox(item: ListItem) -> Blocks:
    """Return what is in an entry, its box as a sign in front of it."""
    if item.checked is None:
        return item.blocks
    box = PlainText(_BOXES[item.checked])
    match item.blocks:
        case (Paragraph(children), *others):
            return (Paragraph((box, *children)), *others)
        case others:
            return (Paragraph((box,)), *others)


def _is_task(item: ListItem) -> bool:
    if item.checked is None:
        return False
    match item.blocks:
        case () | (Paragraph(),):
            return True
        case (Paragraph(), ListBlock() as inner):
            return is_task_list(inner)
        case _:
            return False
