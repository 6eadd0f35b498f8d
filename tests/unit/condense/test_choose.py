"""The configured condensers, and those that other packages bring."""

from inspect import cleandoc
from pathlib import Path

import pytest

from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.events.observations import Condensed
from patchwright.core.system.entry_points import CONDENSERS
from patchwright.core.types.errors import SettingsError
from tests.unit.condense.chats import Asked, ask_nobody, history, ran, said
from tests.unit.condense.installed import install

CHAT = history(said(1, "Fix it."), *(ran(n, "ls", "x" * 5_000) for n in range(2, 9)))


def test_the_named_ones_are_tried_in_order() -> None:
    asked = Asked("DONE: " + "everything " * 10)
    both = choose_condenser(["summary", "masking"]).condense(CHAT, asked)
    assert both is not None
    assert both.summary
    masked = choose_condenser(["masking", "summary"]).condense(CHAT, ask_nobody)
    assert masked is not None
    assert masked.masked_to
    assert choose_condenser(["none"]).condense(CHAT, ask_nobody) is None
    assert choose_condenser([]).condense(CHAT, ask_nobody) is None


def test_an_installed_package_brings_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = cleandoc("""
        from patchwright.core.events.types import Condensed


        class Forgetful:
            name = "forgetful"

            def condense(self, history, ask):
                return Condensed(first_id=2, last_id=7, summary="Gone.")
        """)
    install(
        tmp_path,
        monkeypatch,
        module="forgetful_condenser",
        source=source,
        group=CONDENSERS,
        names={"forgetful": "Forgetful"},
    )
    condensed = choose_condenser(["forgetful"]).condense(CHAT, ask_nobody)
    assert condensed == Condensed(first_id=2, last_id=7, summary="Gone.")


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError) as caught:
        choose_condenser(["sumary"])
    assert str(caught.value) == (
        "agent.condenser: there is no 'sumary'; there are: none, recent, masking, "
        "amortised, summary. A plug-in can add more with the entry point group "
        "patchwright.condensers."
    )
