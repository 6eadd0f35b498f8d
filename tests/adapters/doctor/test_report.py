"""What verdicts come to, and how they are shown."""

import io
from typing import Any

import pytest
from rich.console import Console

from patchwright.core.doctor import (
    CheckResult,
    CheckStatus,
    combine,
    failed,
    ok,
    result_of_error,
    skipped,
    warning,
)
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import AuthenticationError, SettingsError
from patchwright.core.types.purpose import Purpose
from patchwright.workers.cli.doctor_report import (
    Examination,
    as_json,
    exit_code,
    print_check,
    print_parts,
    summary,
)
from patchwright.workers.doctor.checks import (
    CHECKS,
    NamedResult,
    choose_checks,
    without_secrets,
)

FINE = NamedResult("state", ok("can be written"), 0.1)
PENDING = NamedResult("database", warning("2 pending", "patchwright db upgrade"), 0.2)
SILENT = NamedResult("broker", failed("does not answer", "start it"), 3.0)
ABSENT = NamedResult("jira", skipped("not configured"), 0.0)
# Checks that were asked for by their names.
ALONE = Examination()
BOTH = Examination(parts=tuple(Purpose))
WRONG = NamedResult("settings", failed("1 fault", "llm.model: not set"), 0.0)


def test_of_several_findings_what_is_wrong_is_told() -> None:
    both = combine((ok("a"), warning("b", "do b"), failed("c.", "do c\ndo d")))
    assert both == CheckResult(CheckStatus.FAILED, "c; b", "do c\ndo d\ndo b")
    assert combine((ok("a"), ok("b"))) == ok("a; b")
    assert combine((ok("a"), skipped("b"))) == ok("a")


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ((FINE, ABSENT), 0),
        ((FINE, PENDING), 0),
        ((PENDING, SILENT), 1),
        ((WRONG, SILENT), 2),
    ],
)
def test_warnings_are_fine_failures_are_1_and_wrong_settings_2(
    verdicts: tuple[NamedResult, ...], code: int
) -> None:
    assert exit_code(verdicts, ALONE) == code
    assert as_json(verdicts, ALONE)["ok"] is (code == 0)


def test_the_object_has_each_check_with_its_fix_and_its_seconds() -> None:
    told: Any = as_json((PENDING,), ALONE)
    assert told["checks"] == [
        {
            "name": "database",
            "status": "warning",
            "found": "2 pending",
            "fix": "patchwright db upgrade",
            "seconds": 0.2,
        }
    ]


SANDBOX = NamedResult("sandbox", ok("bubblewrap: git 2.43, Python 3.12"), 2.0)
MODEL = NamedResult("model", failed("no API key for anthropic", "set LLM_API_KEY"), 0.1)
NO_GITHUB = NamedResult(
    "github", failed("GitHub did not answer (ConnectionError)", "check the network"), 9
)


def report(examination: Examination, *verdicts: NamedResult) -> str:
    out = io.StringIO()
    print_parts(Console(file=out, width=80), verdicts, examination)
    return out.getvalue()


def test_a_machine_without_a_service_is_ready_for_resolve() -> None:
    local = Examination(parts=tuple(Purpose), is_set_up=False)
    verdicts = (FINE, SANDBOX, NO_GITHUB)
    assert report(local, *verdicts) == (
        "For `resolve`: ready\n"
        "ok       state    can be written\n"
        "ok       sandbox  bubblewrap: git 2.43, Python 3.12\n"
        "warning  github   GitHub did not answer (ConnectionError)\n"
        "                > check the network\n"
        "\n"
        "For `serve`: not set up\n"
        "To run the service, see docs/service.md; then "
        "`patchwright doctor --for serve` lists what is missing.\n"
    )
    assert exit_code(verdicts, local) == 0
    told: Any = as_json(verdicts, local)
    assert told["ok"] is True
    assert told["parts"] == {
        "resolve": {"set_up": True, "ready": True, "missing": []},
        "serve": {"set_up": False, "ready": False, "missing": []},
    }


def test_each_part_names_what_it_lacks_and_shows_it_once() -> None:
    verdicts = (FINE, PENDING, SILENT, MODEL, NO_GITHUB, ABSENT)
    assert report(BOTH, *verdicts) == (
        "For `resolve`: 1 thing missing\n"
        "ok       state     can be written\n"
        "failed   model     no API key for anthropic\n"
        "                 > set LLM_API_KEY\n"
        "\n"
        "For `serve`: 3 things missing\n"
        "failed   model (see above)\n"
        "warning  database  2 pending\n"
        "                 > patchwright db upgrade\n"
        "failed   broker    does not answer\n"
        "                 > start it\n"
        "failed   github    GitHub did not answer (ConnectionError)\n"
        "                 > check the network\n"
        "skipped  jira\n"
    )
    assert exit_code(verdicts, BOTH) == 1
    told: Any = as_json(verdicts, BOTH)
    assert told["parts"]["resolve"]["missing"] == ["model"]
    assert told["parts"]["serve"]["missing"] == ["broker", "model", "github"]


def test_a_notice_about_the_settings_comes_first_and_counts() -> None:
    exposed = NamedResult("secrets", failed("a key is in git", "move it"), 0.0)
    noticed = Examination(parts=(Purpose.RESOLVE,), notices=(exposed,))
    assert report(noticed, FINE) == (
        "failed   secrets  a key is in git\n"
        "                > move it\n"
        "\n"
        "For `resolve`: ready\n"
        "ok       state    can be written\n"
    )
    assert exit_code((FINE,), noticed) == 1


def test_the_summary_counts_what_there_was() -> None:
    every = (FINE, PENDING, SILENT, ABSENT)
    assert summary(every) == "1 ok, 1 warning, 1 failed, 1 skipped"
    assert summary((FINE,)) == "1 ok"


def test_piped_lines_are_whole_plain_and_aligned() -> None:
    out = io.StringIO()
    for verdict in (FINE, SILENT):
        print_check(Console(file=out, width=20), verdict)
    assert out.getvalue() == (
        "ok       state               can be written\n"
        "failed   broker              does not answer\n"
        "                           > start it\n"
    )


def test_on_a_terminal_words_are_wrapped_into_their_column() -> None:
    out = io.StringIO()
    console = Console(file=out, width=60, force_terminal=True, color_system=None)
    print_check(
        console, NamedResult("state", failed("one two three " * 4, "do it"), 0.0)
    )
    first, second, fix = out.getvalue().splitlines()
    assert first.startswith("failed   state               one two")
    assert second.startswith(" " * 29 + "t")
    assert fix == " " * 27 + "> do it"
    assert max(map(len, (first, second))) <= 60


def test_what_others_say_does_not_steer_the_terminal() -> None:
    out = io.StringIO()
    name = "acme\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b1A"
    print_check(
        Console(file=out, force_terminal=True), NamedResult("slack", ok(name), 0.0)
    )
    assert "acme" in out.getvalue()
    assert "\x1b]" not in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()
    assert "\x9b" not in out.getvalue()


def test_no_secret_is_shown_wherever_it_comes_from() -> None:
    told = NamedResult(
        "broker", failed("redis://:s3cret-pass@host", "s3cret-pass"), 0.0
    )
    clean = without_secrets(told, Redactor(["s3cret-pass"]))
    assert "s3cret-pass" not in repr(clean)


def test_a_service_stands_for_its_checks_and_a_check_for_itself() -> None:
    assert [one.name for one in choose_checks(["jira", "state"])] == [
        "state",
        "jira",
        "jira-projects",
    ]
    assert choose_checks(()) == CHECKS


def test_a_check_that_is_not_there_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(SettingsError, match="'brocker'; is it 'broker'"):
        choose_checks(["brocker"])


def test_an_error_of_ours_is_explained_and_another_is_a_fault_of_the_check() -> None:
    told = result_of_error(AuthenticationError("GitHub answered 401:\nBad credentials"))
    assert told.found == "GitHub answered 401: Bad credentials"
    assert told.fix == "set a valid credential"
    broken = result_of_error(ZeroDivisionError("division by zero"))
    assert broken.found == (
        "the check itself failed: ZeroDivisionError: division by zero"
    )
