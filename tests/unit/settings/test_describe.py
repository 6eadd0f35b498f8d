"""The documentation names every setting."""

from patchwright.core.settings.model import all_keys, variable_name
from patchwright.integrations.settings import ALL_SETTINGS
from tests.reference.settings_page import describe


def test_every_key_has_a_row_and_a_meaning() -> None:
    lines = describe().splitlines()
    for key in all_keys(ALL_SETTINGS):
        [row] = [one for one in lines if f"`{variable_name(key.path)}`" in one]
        assert row.startswith(f"| `{key.path[-1]}` |")
        assert key.field.description


def test_every_table_has_a_section_of_its_own() -> None:
    titles = [one for one in describe().splitlines() if one.startswith("## ")]
    assert len(titles) == len(set(titles))
    jira = titles.index("## `jira`")
    assert titles[jira + 1] == "## `jira.transitions`"
    assert titles[-1] == "## `telemetry`"


def test_a_row_tells_names_default_and_meaning() -> None:
    lines = describe().splitlines()
    assert (
        "| `log_json` | `LOG_JSON`, `PATCHWRIGHT_LOG_JSON` | `false` | Write each "
        "line of the log as a JSON object. |"
    ) in lines
    assert (
        "| `private_key` | `PATCHWRIGHT_GITHUB__PRIVATE_KEY`, "
        "`PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE` | none "
        "| Private key of the App, PEM. |"
    ) in lines
    assert (
        "| `min_permission` | `PATCHWRIGHT_SECURITY__MIN_PERMISSION` | `write` | "
        "Permission in a repository that a person needs to start a run: `read`, "
        "`triage`, `write`, `maintain` or `admin`. |"
    ) in lines
