"""Several analyzers, the policy, and what a yes counts for."""

from inspect import cleandoc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.agent.analyzers import AnalyzerPanel, choose_analyzer
from patchwright.core.events.actions import AgentAction, RunCommand, Think
from patchwright.core.events.payload import Risk
from patchwright.core.security.analyzer import (
    Analyzer,
    ConfirmPolicy,
    Verdict,
    digest_of,
    needs_confirmation,
)
from patchwright.core.system.entry_points import ANALYZERS
from patchwright.core.types.errors import SettingsError
from tests.unit.condense.installed import install

ACTION = Think(thought="hm")
ORDER = [Risk.UNKNOWN, Risk.LOW, Risk.MEDIUM, Risk.HIGH]


class Says:
    """An analyzer that is of one opinion."""

    name = "says"

    def __init__(self, risk: Risk) -> None:
        self._risk = risk

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        assert (action, claimed) == (ACTION, Risk.UNKNOWN)
        return Verdict(risk=self._risk, why=f"It is {self._risk}.")


class Fails:
    name = "broken"

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        raise ZeroDivisionError(f"secret of {action} {claimed}")


@given(risks=st.lists(st.sampled_from(ORDER), min_size=1, max_size=4))
def test_the_highest_word_counts(risks: list[Risk]) -> None:
    panel = AnalyzerPanel([Says(risk) for risk in risks])
    highest = max(risks, key=ORDER.index)
    assert panel.judge(ACTION, Risk.UNKNOWN) == Verdict(
        risk=highest, why=f"It is {highest}."
    )


def test_nobody_means_unknown() -> None:
    assert AnalyzerPanel([]).judge(ACTION, Risk.LOW).risk is Risk.UNKNOWN


@pytest.mark.parametrize("others", [[], [Says(Risk.LOW)], [Says(Risk.UNKNOWN)]])
def test_an_analyzer_that_fails_counts_as_high(others: list[Analyzer]) -> None:
    verdict = AnalyzerPanel([*others, Fails()]).judge(ACTION, Risk.UNKNOWN)
    assert verdict == Verdict(
        risk=Risk.HIGH, why="The analyzer broken failed (ZeroDivisionError)."
    )


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        ("never", set()),
        ("risky", {Risk.HIGH, Risk.UNKNOWN}),
        ("always", set(Risk)),
    ],
)
def test_the_policy_says_which_risks_are_asked_about(
    policy: ConfirmPolicy, asked: set[Risk]
) -> None:
    assert {risk for risk in Risk if needs_confirmation(policy, risk)} == asked


def test_the_model_can_raise_alarm_but_not_give_the_all_clear() -> None:
    both = choose_analyzer(["rules", "model"])
    harmless, risky = RunCommand(command="ls"), RunCommand(command="git push")
    assert both.judge(harmless, Risk.UNKNOWN).risk is Risk.LOW
    assert both.judge(harmless, Risk.HIGH) == Verdict(
        risk=Risk.HIGH, why="The model itself calls it risky."
    )
    assert both.judge(risky, Risk.LOW).risk is Risk.HIGH


def test_a_model_that_says_nothing_is_not_known() -> None:
    assert choose_analyzer(["model"]).judge(ACTION, Risk.UNKNOWN).risk is Risk.UNKNOWN
    assert choose_analyzer(["model"]).judge(ACTION, Risk.LOW).risk is Risk.LOW


def test_an_installed_package_brings_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = cleandoc("""
        from patchwright.core.events.types import Risk
        from patchwright.core.security.analyzer import Verdict


        class Strict:
            name = "strict"

            def judge(self, action, claimed):
                return Verdict(risk=Risk.HIGH, why="Everything is.")


        class Broken:
            name = "broken"
        """)
    install(
        tmp_path,
        monkeypatch,
        module="strict_analyzer",
        source=source,
        group=ANALYZERS,
        names={"strict": "Strict", "broken": "Broken"},
    )
    strict = choose_analyzer(["rules", "strict"])
    assert strict.judge(ACTION, Risk.LOW).why == "Everything is."
    broken = choose_analyzer(["rules", "broken"])
    assert broken.judge(ACTION, Risk.LOW).why == (
        "The analyzer broken failed (AttributeError)."
    )


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError) as caught:
        choose_analyzer(["rulez"])
    assert str(caught.value) == (
        "agent.analyzers: there is no 'rulez'; there are: rules, model. A plug-in can "
        "add more with the entry point group patchwright.analyzers."
    )


def test_a_digest_is_of_what_would_be_done_and_nothing_else() -> None:
    action = RunCommand(command="ls")
    same = RunCommand(command="ls", call_id="c1", agent="7", risk=Risk.HIGH)
    assert digest_of(action) == digest_of(same)
    assert digest_of(action) == (
        "ca21e473121afb630d20a12c7e9fa9855b914fd77f2a7f09cfed056092aa2655"
    )
    others = (
        RunCommand(command="ls "),
        RunCommand(command="ls", session="other"),
        RunCommand(command="ls", stdin="x"),
        Think(thought="ls"),
    )
    assert len({digest_of(one) for one in (action, *others)}) == 5
    assert digest_of(RunCommand(command="\ud800")) != digest_of(action)
