"""One part of a task's text, and the whole of it where that is long."""

from patchwright.core.types.base import Value


class TaskSection(Value):
    """A part of the prompt; `files` are by name, for `/workspace/context`."""

    text: str = ""
    files: dict[str, str] = {}
