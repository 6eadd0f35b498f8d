"""Read the YAML that a microagent may begin with."""

import re
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from patchwright.core.knowledge.pages import PageKind
from patchwright.core.types.base import Value

MAX_CHARS = 8_000
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<yaml>.*?)(?:\n|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL
)


class FrontMatter(Value):
    """What a file says about itself; `fault` says why that could not be read."""

    kind: PageKind
    triggers: tuple[str, ...] = ()
    fault: str = ""


class _FrontMatterFields(BaseModel):
    """The fields that matter here; files for other tools have more of them."""

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    type: Literal["", "repo", "knowledge", "task"] = ""
    triggers: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return what a text says about itself, and the rest of it.

    Without a type the triggers decide: a file that has some waits for them.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    match = _FRONT_MATTER.match(text)
    if match is None:
        return FrontMatter(kind=PageKind.REPO), text
    return _read(match["yaml"]), text[match.end() :]


def _read(source: str) -> FrontMatter:
    if len(source) > MAX_CHARS:
        return _broken("it is too long")
    try:
        # Everything stays text: a trigger may be `no` or `404`.
        loaded = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506 - no objects
        fields = _FrontMatterFields.model_validate(loaded or {})
    except (yaml.YAMLError, RecursionError) as error:
        return _broken(_first_line(error))
    except ValidationError as error:
        return _broken(f"`{'.'.join(map(str, error.errors()[0]['loc'])) or 'all'}`")
    return _judge(fields)


def _judge(fields: _FrontMatterFields) -> FrontMatter:
    triggers = tuple(filter(None, (" ".join(t.split()) for t in fields.triggers)))
    if fields.type:
        kind = PageKind(fields.type)
    else:
        kind = PageKind.KNOWLEDGE if triggers else PageKind.REPO
    if kind is PageKind.TASK and not triggers and fields.name:
        triggers = (f"/{fields.name}",)
    return FrontMatter(kind=kind, triggers=triggers)


def _broken(fault: str) -> FrontMatter:
    """Let a file be looked up whose front matter cannot say when it is wanted."""
    return FrontMatter(kind=PageKind.KNOWLEDGE, fault=fault)


def _first_line(error: Exception) -> str:
    said = getattr(error, "problem", None) or type(error).__name__
    return str(said).partition("\n")[0]
