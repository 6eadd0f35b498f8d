"""A service to examine, by its settings, and one check of it."""

from collections.abc import Mapping
from pathlib import Path

from patchwright.core.doctor import CheckContext, CheckResult, CheckStatus, DoctorCheck
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.settings import load_settings
from patchwright.workers.doctor.checks import CHECKS, make_context
from tests.app_manifest import add_our_app
from tests.fakes.github.fake import FakeGitHub

APP_ID = 4711
SECRET = "hook-secret-of-32-characters-or-so"


def case_of(folder: Path, **environment: str) -> CheckContext:
    """Return a case whose settings are these variables, without their prefix."""
    ours = {f"PATCHWRIGHT_{key}": value for key, value in environment.items()}
    environ = {"PATCHWRIGHT_STATE_DIR": str(folder / "state"), **ours}
    settings = load_settings(environ, flags={}, cwd=folder)
    return make_context(settings, SystemClock())


def check_named(name: str) -> DoctorCheck:
    return next(one for one in CHECKS if one.name == name)


def examined(name: str, case: CheckContext) -> CheckResult:
    """Carry out the check of that name here and now."""
    found = check_named(name).examine(case)
    assert isinstance(found, CheckResult)
    # What is wrong has its remedy, and nothing else has one.
    is_wrong = found.status in {CheckStatus.WARNING, CheckStatus.FAILED}
    assert bool(found.fix) == is_wrong, found
    assert "\n" not in found.found
    return found


def settings_of(github: FakeGitHub) -> Mapping[str, str]:
    """Register our App there, beside a repository, and return what reaches it."""
    key = add_our_app(github, APP_ID, SECRET)
    github.add_user("ann")
    github.add_repository("acme/shop", files={"a.py": "1\n"})
    return {
        "GITHUB__API_URL": github.api_url,
        "GITHUB__WEB_URL": github.web_url,
        "GITHUB__APP_ID": str(APP_ID),
        "GITHUB__PRIVATE_KEY": key,
        "GITHUB__WEBHOOK_SECRET": SECRET,
    }
