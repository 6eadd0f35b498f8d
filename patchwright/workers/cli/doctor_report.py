"""The report of `patchwright doctor`: for a person, for a program, as an exit code."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from patchwright.core.doctor import CheckStatus, DoctorCheck, warning
from patchwright.core.text.strings import count_noun, strip_invisible
from patchwright.core.types.purpose import Purpose
from patchwright.workers.doctor.checks import CHECKS, NamedResult


@dataclass(frozen=True, slots=True)
class Examination:
    """The checks that are carried out, and the parts of the report.

    Without parts each check stands for itself. If no service `is_set_up`, nothing of it
    is checked. `notices` are about the settings as such, and come first.
    """

    entries: tuple[DoctorCheck, ...] = ()
    parts: tuple[Purpose, ...] = ()
    is_set_up: bool = True
    notices: tuple[NamedResult, ...] = ()

    def covers(self, part: Purpose) -> bool:
        return part is Purpose.RESOLVE or self.is_set_up


FINE: Final = 0
SOMETHING_FAILED: Final = 1
WRONG_CONFIGURATION: Final = 2
SETTINGS: Final = "settings"
SECRETS: Final = "secrets"


def as_json(
    verdicts: Sequence[NamedResult], examination: Examination
) -> dict[str, JsonValue]:
    checks: list[JsonValue] = [
        {
            "name": verdict.name,
            "status": verdict.finding.status.value,
            "found": verdict.finding.found,
            "fix": verdict.finding.fix,
            "seconds": verdict.seconds,
        }
        for verdict in (*examination.notices, *verdicts)
    ]
    parts: dict[str, JsonValue] = {
        part.value: {
            "set_up": examination.covers(part),
            "ready": examination.covers(part)
            and not missing_in(part, verdicts, examination),
            "missing": [*missing_in(part, verdicts, examination)],
        }
        for part in examination.parts
    }
    is_ok = exit_code(verdicts, examination) == FINE
    return {"ok": is_ok, "parts": parts, "checks": checks}


def exit_code(verdicts: Sequence[NamedResult], examination: Examination) -> int:
    """Return what the process ends with; `serve` would refuse wrong settings too."""
    wrong = (
        {
            name
            for part in examination.parts
            for name in missing_in(part, verdicts, examination)
        }
        if examination.parts
        else set(_failed(verdicts))
    )
    wrong |= set(_failed(examination.notices))
    if SETTINGS in wrong:
        return WRONG_CONFIGURATION
    return SOMETHING_FAILED if wrong else FINE


def summary(verdicts: Sequence[NamedResult]) -> str:
    """Say in one line how many checks ended how."""
    count = Counter(verdict.finding.status for verdict in verdicts)
    parts = [
        f"{count[CheckStatus.OK]} ok",
        count_noun(count[CheckStatus.WARNING], "warning"),
        f"{count[CheckStatus.FAILED]} failed",
        f"{count[CheckStatus.SKIPPED]} skipped",
    ]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "no checks"


def missing_in(
    part: Purpose, verdicts: Iterable[NamedResult], examination: Examination
) -> tuple[str, ...]:
    """Return the checks that failed, of those that the command cannot do without."""
    if not examination.covers(part):
        return ()
    needed = {entry.name for entry in CHECKS if part in entry.needed_by}
    return tuple(name for name in _failed(verdicts) if name in needed)


def _failed(verdicts: Iterable[NamedResult]) -> list[str]:
    return [one.name for one in verdicts if one.finding.status is CheckStatus.FAILED]


_STYLES: Final[Mapping[CheckStatus, str]] = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.FAILED: "bold red",
    CheckStatus.SKIPPED: "dim",
}
_STATUS_WIDTH: Final = max(len(status) for status in CheckStatus) + 2
_NAME_WIDTH: Final = max(len(entry.name) for entry in CHECKS) + 2
_LEAST_WIDTH: Final = 30


def print_check(
    console: Console, verdict: NamedResult, name_width: int = _NAME_WIDTH
) -> None:
    """Print what was found, and below it what to do."""
    indent = _STATUS_WIDTH + name_width
    style = _STYLES[verdict.finding.status]
    dim = "dim" if verdict.finding.status is CheckStatus.SKIPPED else ""
    head = Text.assemble(
        (verdict.finding.status.ljust(_STATUS_WIDTH), style),
        (verdict.name.ljust(name_width), dim or "bold"),
    )
    # What others say is in there too, and must not steer the terminal.
    found, _ = strip_invisible(verdict.finding.found)
    _print_column(console, head, Text(found, style=dim), indent)
    for line in verdict.finding.fix.splitlines():
        pointer = Text(" " * (indent - 2) + "> ", style=style)
        _print_column(console, pointer, Text(line), indent)


def _print_column(console: Console, head: Text, words: Text, indent: int) -> None:
    for line in _wrapped(console, words, indent):
        console.print(head + line, soft_wrap=True)
        head = Text(" " * indent)


def _wrapped(console: Console, words: Text, indent: int) -> Iterator[Text]:
    """Break a text for the width of a terminal; what is piped stays whole."""
    if not console.is_terminal:
        yield words
        return
    width = max(console.width - indent, _LEAST_WIDTH)
    yield from words.wrap(console, width)


_NO_SERVICE: Final = (
    "To run the service, see docs/service.md; then `patchwright doctor --for serve` "
    "lists what is missing."
)


def print_parts(
    console: Console, verdicts: Sequence[NamedResult], examination: Examination
) -> None:
    """Print what each command lacks; a check that both need is shown once."""
    left = list(verdicts)
    width = _name_width((*examination.notices, *verdicts), examination)
    for notice in examination.notices:
        print_check(console, notice, width)
    if examination.notices:
        console.print()
    for number, part in enumerate(examination.parts):
        if number:
            console.print()
        console.print(_part_title(part, verdicts, examination))
        if not examination.covers(part):
            _print_column(console, Text(""), Text(_NO_SERVICE, style="dim"), 0)
            continue
        own = [one for one in left if _is_of(part, one, examination)]
        left = [one for one in left if one not in own]
        before = set(missing_in(part, verdicts, examination)) - {
            one.name for one in own
        }
        _print_names(console, CheckStatus.FAILED, sorted(before), " (see above)")
        _print_part(console, own, part, width)


def _name_width(verdicts: Sequence[NamedResult], examination: Examination) -> int:
    """Return the width for the names of the rows: some names share a row."""
    rows = [one.name for one in verdicts if not _shares_row(one, examination)]
    return max(map(len, rows), default=0) + 2


def _shares_row(verdict: NamedResult, examination: Examination) -> bool:
    """Tell whether it is named with others: many services are not used."""
    is_of_service = _is_of(Purpose.SERVE, verdict, examination)
    return verdict.finding.status is CheckStatus.SKIPPED and is_of_service


def _is_of(part: Purpose, verdict: NamedResult, examination: Examination) -> bool:
    """Tell whether it is shown there: what is only useful, with what needs it."""
    entry = next(one for one in CHECKS if one.name == verdict.name)
    needed = [
        one
        for one in examination.parts
        if one in entry.needed_by and examination.covers(one)
    ]
    return part in (needed or entry.useful_to)


def _part_title(
    part: Purpose, verdicts: Sequence[NamedResult], examination: Examination
) -> Text:
    missing = missing_in(part, verdicts, examination)
    if not examination.covers(part):
        state, style = "not set up", "dim"
    elif missing:
        state, style = f"{count_noun(len(missing), 'thing')} missing", "red"
    else:
        state, style = "ready", "green"
    return Text.assemble((f"For `{part}`: ", "bold"), (state, f"bold {style}"))


def _print_part(
    console: Console,
    verdicts: Sequence[NamedResult],
    part: Purpose,
    name_width: int,
) -> None:
    skipped = []
    for verdict in verdicts:
        if part is Purpose.SERVE and verdict.finding.status is CheckStatus.SKIPPED:
            skipped.append(verdict.name)
        else:
            print_check(console, _for_part(verdict, part), name_width)
    _print_names(console, CheckStatus.SKIPPED, skipped)


def _print_names(
    console: Console, status: CheckStatus, names: Sequence[str], remark: str = ""
) -> None:
    if not names:
        return
    style = _STYLES[status]
    head = Text(status.ljust(_STATUS_WIDTH), style=style)
    dim = "dim" if status is CheckStatus.SKIPPED else ""
    words = Text(f"{', '.join(names)}{remark}", style=dim)
    _print_column(console, head, words, _STATUS_WIDTH)


def _for_part(verdict: NamedResult, part: Purpose) -> NamedResult:
    """Return a failure as a warning where the command works all the same."""
    finding = verdict.finding
    entry = next(one for one in CHECKS if one.name == verdict.name)
    if finding.status is not CheckStatus.FAILED or part in entry.needed_by:
        return verdict
    return replace(verdict, finding=warning(finding.found, finding.fix))
