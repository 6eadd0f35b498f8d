"""The template is what GitLab takes, and says the same as the code that it starts."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from patchwright.integrations.gitlab.ci.report import DOTENV_FILE
from patchwright.integrations.gitlab.ci.system import (
    ARTIFACTS,
    GITLAB_INPUTS,
    variable_of,
)
from tests.architecture.tree import ROOT
from tests.tutorials.world import RELEASE

FILE = ROOT / "templates" / "patchwright.yml"
# What is asked for by who starts one pipeline, and never for all of them.
OF_ONE_PIPELINE = {
    "issue-number",
    "merge-request-number",
    "prove-only",
    "task",
    "task-file",
}
# What is about the job around the run.
OF_THE_JOB = {
    "docker-image",
    "job-image",
    "job-stage",
    "prove-merge-requests",
    "runner-tags",
}
INPUT = re.compile(r"\$\[\[ inputs\.([a-z-]+) \]\]")


@cache
def documents() -> tuple[dict[str, Any], dict[str, Any]]:
    head, body = yaml.safe_load_all(FILE.read_text("utf-8"))
    return head, body


@cache
def job() -> dict[str, Any]:
    found: dict[str, Any] = documents()[1]["patchwright"]
    return found


@cache
def inputs() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = documents()[0]["spec"]["inputs"]
    return found


def filled_in(value: Any) -> Any:
    """Put the defaults in, as GitLab does: one that is a whole value keeps its type.

    https://docs.gitlab.com/ci/inputs/#define-input-parameters-with-specinputs
    """
    match value:
        case dict():
            return {key: filled_in(one) for key, one in value.items()}
        case list():
            return [filled_in(one) for one in value]
        case str() if whole := INPUT.fullmatch(value):
            return inputs()[whole[1]]["default"]
        case str():
            return INPUT.sub(lambda one: str(inputs()[one[1]]["default"]), value)
        case _:
            return value


def test_it_fits_gitlabs_schema_before_and_after_inputs_are_filled_in() -> None:
    package = files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((package / "gitlab-ci.json").read_text("utf-8"))
    validator = Draft7Validator(schema)
    head, body = documents()
    problems = [
        error.message
        for document in (head, filled_in(body))
        for error in validator.iter_errors(document)
    ]
    assert problems == []


def test_its_inputs_are_those_of_the_code_with_the_same_defaults() -> None:
    expected = {
        name: one.default
        for name, one in GITLAB_INPUTS.items()
        if name not in OF_ONE_PIPELINE
    }
    own = {name: one for name, one in inputs().items() if name not in OF_THE_JOB}
    assert {name: one["default"] for name, one in own.items()} == expected
    assert all(one["description"] for one in inputs().values())


def test_every_input_is_used_and_its_value_stays_as_it_is() -> None:
    passed = job()["variables"]
    for name in inputs().keys() - OF_THE_JOB:
        written = {"value": f"$[[ inputs.{name} ]]", "expand": False}
        assert passed[variable_of(name)] == written
    used = set(INPUT.findall(json.dumps(documents()[1])))
    assert used == inputs().keys()


@pytest.mark.parametrize("part", ["before_script", "script", "after_script"])
def test_s80_no_script_holds_what_others_write(part: str) -> None:
    script = "\n".join(job()[part])
    assert "$[[" not in script
    assert set(re.findall(r"\$\{?(\w+)", script)) <= {"PATH"}


def test_forks_and_pushes_start_nothing() -> None:
    fork, proof, other, *asked = job()["rules"]
    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID != $CI_PROJECT_ID" in fork["if"]
    assert fork["when"] == "never"
    assert '"$[[ inputs.prove-merge-requests ]]" == "true"' in proof["if"]
    assert other == {"if": "$CI_COMMIT_BRANCH != $CI_DEFAULT_BRANCH", "when": "never"}
    told = " ".join(rule["if"] for rule in asked)
    variables = OF_ONE_PIPELINE - {"prove-only"}
    assert set(re.findall(r"\$(PATCHWRIGHT_\w+)", told)) == set(
        map(variable_of, variables)
    )
    assert job()["variables"]["GIT_STRATEGY"] == "none"


def test_what_the_code_writes_is_what_gitlab_reads() -> None:
    kept = job()["artifacts"]
    assert kept["paths"] == [ARTIFACTS]
    assert kept["reports"] == {
        "dotenv": f"{ARTIFACTS}/{DOTENV_FILE}",
        "junit": f"{ARTIFACTS}/junit.xml",
    }
    assert kept["when"] == "always"
    assert kept["access"] == "developer"


def test_it_installs_this_release_alone() -> None:
    [install] = job()["before_script"]
    assert f"--branch {RELEASE} " in install
    assert "--require-hashes" in install
