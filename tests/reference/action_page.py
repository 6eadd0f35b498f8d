"""Write `docs/action-reference.md`, the inputs and outputs, from `action.yml`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

_HEAD: Final = """\
# The Action's inputs and outputs

All inputs but `llm-model` may be left out. The model's key is none of them: set the
environment variable `LLM_API_KEY` of the step from a secret. Lists are separated by
commas, unless the description says otherwise. An input that is left out, or that says
what its default says, gives way to the repository's `.patchwright.toml`.

## Inputs

| input | default | meaning |
|---|---|---|
"""
_OUTPUTS: Final = """
## Outputs

Every output is set however the run ends, also when it was refused, crashed or killed;
one that has nothing to say is empty. None of them ever holds a token.

`summary`, `branch`, `structured-output` and `left-out` hold words of the model and of
other people. Hand them to a script in `env:`, and never write `${{ }}` into its text:
the words would be part of the script.

| output | meaning |
|---|---|
"""


def page(action: str) -> str:
    """Return the page for the text of an `action.yml`."""
    read = yaml.safe_load(action)
    return "".join([_HEAD, *_inputs(read["inputs"]), _OUTPUTS, *_outputs(read)])


def _inputs(inputs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, facts in inputs.items():
        default = "required" if facts.get("required") else _code(facts.get("default"))
        yield f"| `{name}` | {default} | {_cell(facts['description'])} |\n"


def _outputs(read: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    for name, facts in read["outputs"].items():
        yield f"| `{name}` | {_cell(facts['description'])} |\n"


def _code(text: object) -> str:
    return f"`{text}`" if text not in (None, "") else "none"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
