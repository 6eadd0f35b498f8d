"""Shell commands are judged by what they would run, however it is wrapped."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.types import Risk
from patchwright.core.security.shell.judge import judge_script
from tests.unit.security import examples
from tests.unit.security.examples import commands

RISKS = {Risk.LOW: examples.LOW, Risk.MEDIUM: examples.MEDIUM, Risk.HIGH: examples.HIGH}


@pytest.mark.parametrize("risk", RISKS)
def test_each_example_has_its_risk(risk: Risk) -> None:
    judged = {command: judge_script(command).risk for command in commands(RISKS[risk])}
    assert judged == dict.fromkeys(judged, risk)
    assert len(judged) > 30
