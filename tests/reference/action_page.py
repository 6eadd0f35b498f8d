"""Write `docs/action-reference.md`, the inputs and outputs, from `action.yml`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

_HEAD: Final = """\
# The Action's inputs and outputs

All inputs are optional, but without `prove-only` `llm-model` must be set. The model's
key is not an input: set the environment variable `LLM_API_KEY` of the step from a
secret. Lists are separated by commas, unless the description says otherwise. If an
input is not set, or has its default value, the repository's `.patchwright.toml`
decides.

## Inputs

| input | default | meaning |
|---|---|---|
"""
_OUTPUTS: Final = """
## Outputs

Every output is set at every end of the run, also when it was refused, crashed or
killed; an output without a value is empty. No output ever contains a token.

`summary`, `branch`, `evidence`, `structured-output` and `left-out` contain text of the
model and of other people. Pass them to a script in `env:`, and never write `${{ }}`
into the script: the text would become part of the script.

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
