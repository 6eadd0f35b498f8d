"""One thing has one name and one default wherever it is set, or a reason is given."""

from collections.abc import Iterator

import pytest

from patchwright.core.settings.model import all_keys, dotted_key
from patchwright.core.settings.names import COMMON_NAMES, CommonName
from patchwright.core.settings.repository_file import known_keys
from patchwright.integrations.github.ci.workflow import GITHUB_INPUTS
from patchwright.integrations.settings import ALL_SETTINGS
from tests.reference.names_page import defaults_of, options

SETTINGS = {dotted_key(key.path) for key in all_keys(ALL_SETTINGS)}
# What only a workflow can say, by what it is about.
ONLY_IN_THE_ACTION = {
    *("comment-id", "mode", "assignee", "prove-only", "dry-run", "version"),
    *("config-path", "upload-artifacts", "output-schema", "output-schema-file"),
}
# What only a command at a terminal can say.
ONLY_ON_THE_COMMAND_LINE = {
    *("--path", "-C", "--repo", "--config", "--events", "--apply"),
    *("--json", "--json-stream", "--quiet", "-q", "--verbose", "-v"),
}
# Other settings whose last part is the name of a common thing, and what they are.
OTHER_SETTINGS = {
    "agent.model": "the name of a model",
    "gitlab.base_url": "of GitLab",
    "gitlab.label": "the same for GitLab",
    "gitlab.mention": "the same for GitLab",
    "gitlab.token": "of GitLab",
    "jira.mention": "the same for Jira",
    "jira.label": "the same for Jira",
    "jira.token": "of Jira",
    "jira.base_url": "of Jira",
    "linear.api_url": "of Linear",
    "linear.label": "the same for Linear",
    "linear.mention": "the same for Linear",
    "linear.token": "of Linear",
    "slack.api_url": "of Slack",
}
UNITS = ("_usd", "_minutes", "-number")


def test_every_name_is_in_the_table_or_in_one_place_alone() -> None:
    tabled = {one.repository for one in COMMON_NAMES} - {""}
    assert tabled == known_keys()
    tabled = {one.action for one in COMMON_NAMES} - {""}
    assert tabled | ONLY_IN_THE_ACTION == GITHUB_INPUTS.keys()
    assert tabled & ONLY_IN_THE_ACTION == set()
    tabled = {one.option for one in COMMON_NAMES} - {""}
    assert tabled <= options().keys() <= tabled | ONLY_ON_THE_COMMAND_LINE
    assert {one.setting for one in COMMON_NAMES} - {""} <= SETTINGS


def test_no_setting_has_the_name_of_another_thing() -> None:
    named = {one.name for one in COMMON_NAMES}
    tabled = {one.setting for one in COMMON_NAMES}
    alike = {one for one in SETTINGS if one.rpartition(".")[2] in named}
    assert alike - tabled == OTHER_SETTINGS.keys()


@pytest.mark.parametrize("one", COMMON_NAMES, ids=lambda one: one.name)
def test_a_thing_is_spelled_by_the_rule_or_says_why(one: CommonName) -> None:
    assert one.reason or not list(wrong_spellings(one))


@pytest.mark.parametrize("one", COMMON_NAMES, ids=lambda one: one.name)
def test_a_thing_has_one_default_or_says_why(one: CommonName) -> None:
    assert one.reason or len(set(defaults_of(one).values())) <= 1


def wrong_spellings(one: CommonName) -> Iterator[str]:
    name, section = one.name, one.setting.rpartition(".")[0]
    hyphened = name.replace("_", "-")
    if one.setting and one.setting != f"{section}.{name}":
        yield one.setting
    if one.action and one.action not in {hyphened, f"{section}-{hyphened}"}:
        yield one.action
    if one.option and one.option != f"--{without_unit(name)}":
        yield one.option


def without_unit(name: str) -> str:
    for unit in UNITS:
        name = name.removesuffix(unit)
    return name.replace("_", "-")
