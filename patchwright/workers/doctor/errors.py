"""Turn what went wrong in a check into a finding."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.errors import (
    AuthenticationError,
    PatchwrightError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
)
from patchwright.workers.db.errors import database_error_text
from patchwright.workers.doctor.finding import CheckResult, failed

_FIXES: Final[Mapping[type[PatchwrightError], str]] = {
    SettingsError: "correct the setting that is named",
    AuthenticationError: "set a credential that is valid",
    PermissionDeniedError: "give the credential the permission that is named",
    RateLimitedError: "wait; if it comes again, lower limits.max_parallel",
    ServiceUnavailableError: "look at the check `network`: can this machine reach it?",
}
_UNKNOWN: Final = "see the message; the service would meet the same"


def result_of_error(error: BaseException, fix: str = "") -> CheckResult:
    """Say what an error means; one that is not known is a fault of the check."""
    if isinstance(error, PatchwrightError):
        return failed(_one_line(error), fix or _fix_of(error))
    if isinstance(error, SQLAlchemyError):
        words = f"the database cannot be read: {database_error_text(error)}"
        return failed(words, fix or "look at the check `database`")
    words = f"the check itself broke: {type(error).__name__}: {_one_line(error)}"
    return failed(words, "report it, with this line")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _fix_of(error: PatchwrightError) -> str:
    return next((_FIXES[k] for k in type(error).__mro__ if k in _FIXES), _UNKNOWN)
