"""Hold calls and answers against what others wrote down of Slack's Web API."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.fakes.slack.state import Json

# What Slack added since those schemas were made, in 2021.
# https://docs.slack.dev/reference/methods
NEWER = frozenset({"metadata", "include_all_metadata", "team_id"})
# What no thread held that was recorded: a kind of message other than the usual one.
ALSO_ANSWERED = frozenset({("conversations.replies.messages", "subtype")})
# The schemas have it in another place, or under the name of an older kind of token.
NOT_ARGUMENTS = frozenset({"token"})


class ContractError(AssertionError):
    """The fake, or who spoke to it, left Slack's description."""


def corpus_folder() -> Path | None:
    """Return the folder of outside test data, where the machine has one."""
    # No setting of the product: it says where payloads of others lie.
    named = os.environ.get("PATCHWRIGHT_CORPUS")  # noqa: TID251 - as said above
    return Path(named) / "slack" if named else None


@dataclass
class Journal:
    """What was wrong with the exchanges so far; nothing is where there is no corpus."""

    errors: list[str] = field(default_factory=list)

    def note(self, name: str, args: Mapping[str, Any], answer: Json) -> None:
        """Judge one exchange; a call that was refused may be as wrong as it likes."""
        folder = corpus_folder()
        if folder is None or not answer.get("ok"):
            return
        self.errors += _call_errors(_methods(folder), name, args)
        self.errors += _answer_errors(folder, name, answer)

    def check(self) -> None:
        if self.errors:
            raise ContractError("\n".join(self.errors))


@cache
def _methods(folder: Path) -> Json:
    schema: Json = json.loads((folder / "methods.schema.json").read_bytes())
    methods: Json = schema["methods"]
    return methods


@cache
def _shape(file: Path) -> Any:
    return json.loads(file.read_bytes()) if file.exists() else None


def _call_errors(methods: Json, name: str, args: Mapping[str, Any]) -> Iterator[str]:
    if name not in methods:
        yield f"{name}: Slack describes no such method"
        return
    described = {one["name"]: one for one in methods[name]["params"]}
    for arg in sorted(set(args) - set(described) - NEWER):
        yield f"{name}: Slack describes no argument {arg}"
    for arg, one in described.items():
        if one.get("required") and arg not in (*args, *NOT_ARGUMENTS):
            yield f"{name}: the argument {arg} is missing"


def _answer_errors(folder: Path, name: str, answer: Json) -> Iterator[str]:
    shape = _shape(folder / "shapes" / f"{name}.json")
    if shape is not None:
        yield from _unknown(name, answer, shape)


def _unknown(where: str, value: Any, shape: Any) -> Iterator[str]:
    """Name the fields that the real API was never seen to answer with."""
    if isinstance(value, list) and isinstance(shape, list) and shape:
        for one in value:
            yield from _unknown(where, one, shape[0])
    if not (isinstance(value, dict) and isinstance(shape, dict) and shape):
        return
    for key, inner in value.items():
        if (where, key) in ALSO_ANSWERED:
            continue
        if key not in shape:
            yield f"{where}: Slack answers without {key}"
        else:
            yield from _unknown(f"{where}.{key}", inner, shape[key])
