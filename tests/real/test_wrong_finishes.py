"""A first finish that proves nothing costs no proof: the agent can mend it."""

from pathlib import Path

import pytest

from patchwright.core.events.jsonl import read_events
from patchwright.core.events.observations import ErrorObservation
from tests.real.sdists import make_repository
from tests.real.test_real_packages import resolve_recorded
from tests.real.wrong_finishes import WrongFinish, load_wrong_finishes

MAX_ROUNDS = 2


@pytest.mark.real
@pytest.mark.timeout(240)
@pytest.mark.parametrize("wrong", load_wrong_finishes(), ids=str)
def test_a_wrong_first_finish_is_mended_and_the_change_is_proven(
    wrong: WrongFinish,
    tmp_path: Path,
    sandbox_image: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_repository(wrong.recipe, tmp_path / "repository")
    answer, calls = resolve_recorded(wrong.turns, wrong.recipe, tmp_path, sandbox_image)
    assert (answer["outcome"], answer["proof"]) == ("resolved", "proven")
    events = read_events(Path(answer["events"]))
    told = [
        one.payload.text
        for one in events
        if isinstance(one.payload, ErrorObservation)
        and one.payload.reason == "proof-short"
    ]
    assert len(told) <= MAX_ROUNDS
    assert bool(told) is bool(wrong.said)
    assert not told or wrong.said in told[0]
    assert calls == len(wrong.turns)
    with capsys.disabled():
        rounds = f"{len(told)} more round{'' if len(told) == 1 else 's'}"
        print(f"\n{wrong}: proven after {rounds}, {calls} model calls")  # noqa: T201 - the figure is for people
