"""Read a text that is an input, or stands in a file of the workspace."""

from pathlib import Path
from typing import Final

from patchwright.workers.action.inputs import Inputs, wrong_input

MAX_BYTES: Final = 200_000


def read_text(inputs: Inputs, name: str, workspace: Path) -> str:
    """Return the input, or what is in the file that `NAME-file` names.

    Raises `SettingsError` for a file that is not in the workspace, or is no such text.
    """
    file_input = file_input_of(name)
    named = inputs.text(file_input)
    return _read_file(file_input, workspace, named) if named else inputs.text(name)


def file_input_of(name: str) -> str:
    return f"{name}-file"


def _read_file(name: str, workspace: Path, named: str) -> str:
    data = _read_bytes(name, workspace, named)
    if len(data) > MAX_BYTES:
        raise wrong_input(name, f"{named} is larger than {MAX_BYTES // 1000} kB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise wrong_input(name, f"{named} is not UTF-8") from error
    if not text.strip():
        raise wrong_input(name, f"{named} is empty")
    return text


def _read_bytes(name: str, workspace: Path, named: str) -> bytes:
    """Return the file's bytes, of one that is too large one byte too many."""
    root = workspace.resolve()
    path = (root / named).resolve()
    # A link may lead out, or to where a checkout keeps its token.
    if not path.is_relative_to(root) or ".git" in path.relative_to(root).parts:
        raise wrong_input(name, f"{named} is not a file of the workspace")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        said = f"{named} cannot be read: {error.strerror}; is there a checkout step?"
        raise wrong_input(name, said) from error
