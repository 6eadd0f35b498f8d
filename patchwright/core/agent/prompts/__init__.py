"""The texts the model reads that are not the request; reviewed as text."""

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the text of the file `name`.md in this folder."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
