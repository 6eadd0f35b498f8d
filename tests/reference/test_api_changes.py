"""The API does not break the programs that use it, and its document is a document."""

import copy
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from patchwright.client import Client
from tests.architecture.tree import ROOT
from tests.reference.api_changes import breaking_changes
from tests.reference.client_models import MODELS_FILE, client_models

KEPT = ROOT / "docs" / "openapi.json"
# The document of the newest commit that everybody has.
BASES = ("origin/main", "main", "HEAD")
RUN = "/api/runs/{id}"
LIST = "/api/runs"
STOP = "/api/conversations/{id}/stop"


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found


def kept_document() -> dict[str, Any] | None:
    """Return the document as git has it, None where it has none yet."""
    for base in BASES:
        shown = subprocess.run(
            ["git", "show", f"{base}:docs/openapi.json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if shown.returncode == 0:
            found: dict[str, Any] = json.loads(shown.stdout)
            return found
    return None


def test_the_document_breaks_nothing_that_is_there() -> None:
    # An archive of the sources has no history.
    kept = kept_document() or document()
    assert breaking_changes(kept, document()) == []


def test_its_schemas_are_schemas() -> None:
    found = document()
    assert found["openapi"].startswith("3.1.")
    for schema in found["components"]["schemas"].values():
        OAS31Validator.check_schema(schema)


def test_the_models_of_the_client_are_made_from_it() -> None:
    written = MODELS_FILE.read_text()
    assert written == client_models(document()), "run: make reference"


def test_the_client_has_a_method_for_each_operation() -> None:
    operations = {
        one["operationId"]
        for methods in document()["paths"].values()
        for one in methods.values()
    }
    methods = {name for name in vars(Client) if not name.startswith("_")}
    assert methods - {"close"} == operations


def remove_path(found: dict[str, Any]) -> None:
    del found["paths"][RUN]


def remove_method(found: dict[str, Any]) -> None:
    del found["paths"]["/api/conversations"]["post"]


def rename(found: dict[str, Any]) -> None:
    found["paths"][LIST]["get"]["operationId"] = "runs"


def remove_parameter(found: dict[str, Any]) -> None:
    del found["paths"][LIST]["get"]["parameters"][0]


def require_parameter(found: dict[str, Any]) -> None:
    found["paths"][LIST]["get"]["parameters"][0]["required"] = True


def add_required_parameter(found: dict[str, Any]) -> None:
    new = {"name": "x", "in": "query", "required": True, "schema": {"type": "string"}}
    found["paths"][LIST]["get"]["parameters"].append(new)


def lower_limit(found: dict[str, Any]) -> None:
    found["paths"][LIST]["get"]["parameters"][0]["schema"]["maximum"] = 10


def change_answer(found: dict[str, Any]) -> None:
    answer = found["paths"][RUN]["get"]["responses"]["200"]["content"]
    answer["application/json"]["schema"]["$ref"] = "#/components/schemas/RunEntry"


def require_body(found: dict[str, Any]) -> None:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Reason"}}}
    body = {"required": True, "content": content}
    found["paths"][STOP]["post"]["requestBody"] = body


def remove_body(found: dict[str, Any]) -> None:
    del found["paths"]["/api/conversations/{id}/message"]["post"]["requestBody"]


def remove_field(found: dict[str, Any]) -> None:
    del found["components"]["schemas"]["RunEntry"]["properties"]["title"]


def change_type(found: dict[str, Any]) -> None:
    fields = found["components"]["schemas"]["RunEntry"]["properties"]
    fields["steps"]["type"] = "string"


def make_optional(found: dict[str, Any]) -> None:
    found["components"]["schemas"]["RunEntry"]["required"].remove("title")


def require_input(found: dict[str, Any]) -> None:
    found["components"]["schemas"]["NewConversation"]["required"].append("text")


def shorten_input(found: dict[str, Any]) -> None:
    fields = found["components"]["schemas"]["NewConversation"]["properties"]
    fields["text"]["maxLength"] = 10


def remove_schema(found: dict[str, Any]) -> None:
    del found["components"]["schemas"]["Problem"]


def remove_word(found: dict[str, Any]) -> None:
    found["components"]["schemas"]["RunStage"]["enum"].remove("queued")


BREAKING: dict[str, Callable[[dict[str, Any]], None]] = {
    f"GET {RUN} is gone": remove_path,
    "POST /api/conversations is gone": remove_method,
    f"GET {LIST}: its name is now runs": rename,
    f"GET {LIST}: the parameter limit is gone": remove_parameter,
    f"GET {LIST}: the parameter limit is required now": require_parameter,
    f"GET {LIST}: the parameter x is required now": add_required_parameter,
    f"GET {LIST}: the parameter limit allows less": lower_limit,
    f"GET {RUN}: the answer 200 is another one": change_answer,
    f"POST {STOP}: a body is required now": require_body,
    "POST /api/conversations/{id}/message: the body is another one": remove_body,
    "RunEntry.title is gone": remove_field,
    "RunEntry.steps has another type": change_type,
    "RunEntry.title may be left out now": make_optional,
    "NewConversation.text is required now": require_input,
    "NewConversation.text allows less": shorten_input,
    "Problem is gone": remove_schema,
    "RunStage lacks queued": remove_word,
}


@pytest.mark.parametrize("told", BREAKING)
def test_what_breaks_programs_is_told(told: str) -> None:
    changed = copy.deepcopy(document())
    BREAKING[told](changed)
    assert breaking_changes(document(), changed) == [told]


def add_much(found: dict[str, Any]) -> None:
    found["paths"]["/api/new"] = found["paths"][RUN]
    parameter = {"name": "x", "in": "query", "required": False, "schema": {}}
    found["paths"][LIST]["get"]["parameters"].append(parameter)
    schemas = found["components"]["schemas"]
    schemas["RunEntry"]["properties"]["more"] = {"type": "string"}
    schemas["RunEntry"]["required"].append("more")
    schemas["NewConversation"]["properties"]["more"] = {"type": "string"}
    schemas["NewConversation"]["properties"]["text"]["maxLength"] = 90_000
    schemas["RunStage"]["enum"].append("new")
    schemas["RunEntry"]["properties"]["title"]["description"] = "Something else."


def test_what_only_adds_breaks_nothing() -> None:
    changed = copy.deepcopy(document())
    add_much(changed)
    assert breaking_changes(document(), changed) == []


def test_a_schema_that_the_generator_does_not_know_is_an_error() -> None:
    fields: dict[str, Any] = {"b": {"not": {}}}
    odd = {"components": {"schemas": {"A": {"properties": fields}}}}
    with pytest.raises(LookupError):
        client_models(odd)
