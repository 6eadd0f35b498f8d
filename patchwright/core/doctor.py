"""A check of `patchwright doctor`: what it may use, and what it finds."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from pydantic import SecretStr

from patchwright.core.plugin_host import SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    AuthenticationError,
    PatchwrightError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
)
from patchwright.core.types.purpose import Purpose
from patchwright.core.types.threads import RepoRef


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A service by its settings, to which an App that was made for it belongs.

    `open_secrets` lends what is stored, None where nothing is; `find_repositories`
    returns those of a forge that the settings name, and where there was work lately.
    With `spends` a model may be asked for real. Where no service `is_set_up`, it is
    `resolve` alone that is looked at, and a service that it can do without is no fault.
    """

    settings: Settings
    clock: Clock
    open_secrets: Callable[[], AbstractContextManager[SecretVault | None]]
    find_repositories: Callable[[str], tuple[RepoRef, ...]]
    spends: bool = False
    is_set_up: bool = True

    @property
    def public_url(self) -> str:
        return self.settings.server.public_url


class CheckStatus(StrEnum):
    """How a check ended; the later ones are worse."""

    SKIPPED = "skipped"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


_BY_WEIGHT = tuple(CheckStatus)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`found` is one line; `fix` has a line for each thing to do."""

    status: CheckStatus
    found: str
    fix: str = ""


def ok(found: str) -> CheckResult:
    return CheckResult(CheckStatus.OK, found)


def warning(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.WARNING, found, fix)


def failed(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.FAILED, found, fix)


def skipped(why: str) -> CheckResult:
    return CheckResult(CheckStatus.SKIPPED, why)


def combine(findings: Iterable[CheckResult]) -> CheckResult:
    """Return all of them as one: what is wrong, or else everything that is right."""
    several = tuple(findings)
    worst = max((one.status for one in several), key=_BY_WEIGHT.index)
    # Of those that are wrong the worst comes first.
    wrong = sorted(
        (one for one in several if one.fix),
        key=lambda one: -_BY_WEIGHT.index(one.status),
    )
    shown = wrong or [one for one in several if one.status is worst]
    return CheckResult(
        worst,
        _join(dict.fromkeys(one.found for one in shown)),
        "\n".join(dict.fromkeys(one.fix for one in wrong)),
    )


def _join(found: Iterable[str]) -> str:
    *first, last = found
    return "; ".join((*(one.removesuffix(".") for one in first), last))


@dataclass(frozen=True, slots=True)
class SettingsReview:
    """What is to be said of the settings of a service.

    `errors` keep the service from starting. The `addresses` should be encrypted, and
    the `secrets` be hard to guess, each by the setting that has them.
    """

    errors: tuple[str, ...] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, tuple[SecretStr, ...]] = field(default_factory=dict)
    warnings: tuple[CheckResult, ...] = ()


FOR_SERVE: Final = frozenset({Purpose.SERVE})
FOR_BOTH: Final = frozenset(Purpose)


class DoctorCheck(NamedTuple):
    """A check of that name, which has so many seconds to answer.

    Those that are `local` have no use for an App that was made for the service. What is
    checked is `needed_by` these commands, and is `useful_to` others, which also work
    without it.
    """

    name: str
    examine: Callable[[CheckContext], CheckResult]
    within_s: float = 20.0
    local: bool = False
    needed_by: frozenset[Purpose] = FOR_SERVE
    useful_to: frozenset[Purpose] = frozenset()


_FIXES: Final[Mapping[type[PatchwrightError], str]] = {
    SettingsError: "correct this setting",
    AuthenticationError: "set a valid credential",
    PermissionDeniedError: "give the credential this permission",
    RateLimitedError: "wait; if it happens again, lower limits.max_parallel",
    ServiceUnavailableError: "see the check `network`: can this machine reach it?",
}
_UNKNOWN: Final = "see the message; the service would have the same problem"


def result_of_error(error: BaseException, fix: str = "") -> CheckResult:
    """Say what an error means; one that is not known is a fault of the check."""
    if isinstance(error, PatchwrightError):
        return failed(_one_line(error), fix or _fix_of(error))
    words = f"the check itself failed: {type(error).__name__}: {_one_line(error)}"
    return failed(words, "report this line as a bug")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _fix_of(error: PatchwrightError) -> str:
    return next((_FIXES[k] for k in type(error).__mro__ if k in _FIXES), _UNKNOWN)
