"""A list of runs says in few words what each is."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from patchwright.core.types.work import Limits, Usage
from patchwright.workers.cli.run_list import (
    cost_text,
    place_text,
    print_runs,
)
from patchwright.workers.cli.terminal import shorten_middle
from patchwright.workers.runs.run_row import RunRow, age_text
from patchwright.workers.runs.selection import RunStage, UnknownRunError, choose_run_id

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = RunRow(
    id="0123456789",
    place="service",
    stage=RunStage.RUNNING,
    outcome="",
    reason="",
    proof="",
    source="github",
    repo="acme/shop",
    thread="acme/shop#7",
    title="",
    requester="alice",
    asked_at=NOW,
    steps=0,
    usage=Usage(),
    limits=None,
)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0s"), (59, "59s"), (60, "1m"), (7_199, "1h"), (172_800, "2d")],
)
def test_an_age_has_one_unit(seconds: int, said: str) -> None:
    assert age_text(NOW - timedelta(seconds=seconds), NOW) == said
    assert age_text(None, NOW) == "-"


@pytest.mark.parametrize(
    ("cost_usd", "limits", "said"),
    [
        (None, Limits(), "unknown"),
        (0.41, Limits(max_cost_usd=3), "$0.41/3.00"),
        (0.0004, None, "$0.0004"),
    ],
)
def test_what_was_spent_is_never_a_guess(
    cost_usd: float | None, limits: Limits | None, said: str
) -> None:
    run = RUN.replace(usage=Usage(cost_usd=cost_usd), limits=limits)
    assert cost_text(run) == said


def test_a_place_that_is_too_long_keeps_its_end() -> None:
    assert shorten_middle("github acme/webshop#10", 22) == "github acme/webshop#10"
    assert shorten_middle("github acme/webshop#10", 13) == "github…hop#10"
    assert place_text(RUN) == "acme/shop#7 from github"
    assert place_text(RUN.replace(thread="")) == "acme/shop from github"
    in_slack = RUN.replace(source="slack", thread="#C2")
    assert place_text(in_slack) == "acme/shop from slack #C2"
    assert place_text(in_slack.replace(repo="")) == "from slack #C2"


def test_an_id_may_be_cut_as_far_as_it_is_clear() -> None:
    ids = ["abc1", "abd2", "xyz3"]
    assert choose_run_id("x", ["xyz3"], ids) == "xyz3"
    assert choose_run_id("abc1", ["abc1", "abc12"], ids) == "abc1"
    with pytest.raises(UnknownRunError, match=r"more than one run .* abc1, abd2"):
        choose_run_id("ab", ["abc1", "abd2"], ids)
    with pytest.raises(UnknownRunError, match=r"'xyy'; did you mean xyz3\?"):
        choose_run_id("xyy", [], ids)
    with pytest.raises(UnknownRunError) as found:
        choose_run_id("zzzz", [], ids)
    assert str(found.value) == (
        "no run id begins with 'zzzz'; `patchwright runs list` shows all runs"
    )
    with pytest.raises(UnknownRunError, match="there are no runs yet"):
        choose_run_id("x", [], [])


ENDED = RUN.replace(
    stage=RunStage.ENDED,
    repo="acme/webshop",
    thread="acme/webshop#123",
    limits=Limits(),
    usage=Usage(cost_usd=0.41),
    requester="alice-the-great",
)


@pytest.mark.parametrize(
    ("outcome", "proof", "said"),
    [
        ("resolved", "proven", "32mproven"),
        ("resolved", "not-proven", "33mnot proven"),
        ("resolved", "shown-by-command", "33mby command"),
        ("needs-input", "contradicted", "31mcontradicted"),
    ],
)
def test_a_list_says_what_is_proven_and_only_that_is_green(
    outcome: str,
    proof: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_runs([ENDED.replace(outcome=outcome, proof=proof)], NOW)
    shown = capsys.readouterr().out
    assert f"\x1b[{said[:3]}{outcome}" in shown
    assert f"\x1b[{said}" in shown


@pytest.mark.parametrize(("width", "has_steps"), [(80, False), (100, True)])
def test_a_narrow_list_leaves_out_the_steps_and_cuts_no_figure(
    width: int,
    *,
    has_steps: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    print_runs([ENDED.replace(outcome="needs-input", proof="contradicted")], NOW)
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    heading, row = shown.splitlines()
    assert ("steps" in heading) is has_steps
    assert heading.split()[-1] == "age"
    assert ("$0.41/3.00" if has_steps else "$0.41 ") in row
    assert max(len(heading.rstrip()), len(row.rstrip())) <= width


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            80,
            """\
run       state        proof         repo      from        by        cost   age
01234567  needs-input  contradicted  acm…#123  github      ali…reat  $0.41   0s
01234567  running      -             acm…shop  #C024BE91L  jo        $?      0s
01234567  running      -             acm…shop  SHOP-12     Jo …ller  $?      0s
01234567  resolved     proven        shop      local       root      $0.03   2m
""",
        ),
        (
            118,
            """\
run       state        proof         repo              from              by            \
steps  cost        age
01234567  needs-input  contradicted  acme/webshop#123  github            alice…-great  \
 0/50  $0.41/3.00   0s
01234567  running      -             acme/shop         slack #C024BE91L  jo            \
    -  unknown      0s
01234567  running      -             acme/shop         jira SHOP-12      Jo Miller     \
    -  unknown      0s
01234567  resolved     proven        shop              local             root          \
    -  $0.03        2m
""",
        ),
    ],
)
def test_u15_a_list_names_repository_channel_person_and_proof(
    width: int,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    local = RUN.replace(
        stage=RunStage.ENDED,
        outcome="resolved",
        proof="proven",
        source="local",
        repo="shop",
        thread="",
        requester="root",
        asked_at=NOW - timedelta(minutes=2),
        usage=Usage(cost_usd=0.03),
    )
    runs = [
        ENDED.replace(outcome="needs-input", proof="contradicted"),
        RUN.replace(source="slack", thread="#C024BE91L", requester="jo"),
        RUN.replace(source="jira", thread="SHOP-12", requester="Jo Miller"),
        local,
    ]
    print_runs(runs, NOW)
    lines = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).splitlines()
    assert "".join(f"{line.rstrip()}\n" for line in lines) == shown
