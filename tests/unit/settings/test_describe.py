"""The documentation names every setting."""

from patchwright.core.settings.model import all_keys, variable_name
from patchwright.integrations.settings import ALL_SETTINGS
from tests.reference.settings_page import describe


def test_every_key_has_a_row_and_a_meaning() -> None:
    text = describe()
    for key in all_keys(ALL_SETTINGS):
        assert f"| `{key.path[-1]}` | `{variable_name(key.path)}`" in text
        assert key.field.description


def test_a_row_tells_names_default_and_meaning() -> None:
    lines = describe().splitlines()
    assert (
        "| `log_json` | `PATCHWRIGHT_LOG_JSON`, `LOG_JSON` | `false` | Write each "
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
