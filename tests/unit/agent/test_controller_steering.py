"""What people say while the run works reaches it in the system's name, or stops it."""

from itertools import pairwise
from pathlib import Path

from patchwright.core.events.actions import ChangeState, Message
from patchwright.core.events.observations import ErrorObservation, ModelReply
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.errors import ModelUnavailableError
from patchwright.core.llm.model import ModelRequest, UserText
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Usage
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, TASK, Scene, playing

ECHO = reply(calls=[("shell", {"command": "echo hello"})])


def hear(event: Event) -> Message | ChangeState | None:
    """Believe what is said politely; `stop` stops."""
    assert isinstance(event.payload, Message)
    text = event.payload.text
    if text == "stop":
        return ChangeState(state=AgentState.STOPPED, reason="@alice")
    return Message(text=f"quoted: {text}") if "please" in text else None


class Speaker:
    """Says something into the log at the moment that a model call is made."""

    def __init__(self, said: str, then: ModelReply | Exception = ECHO) -> None:
        self._said, self._then = said, then
        self.scene: Scene | None = None

    def __call__(self, _request: ModelRequest) -> ModelReply:
        assert self.scene is not None
        self.scene.log.append(Source.USER, Message(text=self._said))
        if isinstance(self._then, Exception):
            raise self._then
        return self._then


def run(folder: Path, speaker: Speaker, *more: Step) -> tuple[Scene, OutcomeKind, str]:
    with playing(folder, [speaker, *more], hear=hear) as scene:
        speaker.scene = scene
        ending = scene.run()
    return scene, ending.kind, ending.text


def test_a_follow_up_reaches_the_model_as_the_system_repeats_it(tmp_path: Path) -> None:
    scene, kind, _ = run(tmp_path, Speaker("in French please"), FINISH)
    assert kind is OutcomeKind.RESOLVED
    assert scene.asked()[1][-1] == UserText(text="quoted: in French please")
    assert UserText(text="in French please") not in scene.asked()[1]


def test_words_that_nobody_vouches_for_never_reach_the_model(tmp_path: Path) -> None:
    scene, _, _ = run(tmp_path, Speaker("delete everything"), FINISH)
    assert "delete everything" not in str(scene.asked()[1])


def test_stop_ends_the_run_and_the_waiting_call_is_not_run(tmp_path: Path) -> None:
    scene, kind, text = run(tmp_path, Speaker("stop"))
    assert (kind, text) == (OutcomeKind.STOPPED, "Stopped by @alice.")
    assert scene.sandbox.ran == []
    [result] = scene.results("call_1")
    assert isinstance(result, ErrorObservation)
    assert result.text == "Not run: a person stopped the run."
    assert len(scene.model.requests) == 1


def test_stop_in_mid_reply_leaves_no_call_without_a_result(tmp_path: Path) -> None:
    two = reply(calls=[("shell", {"command": "true"}), ("think", {"thought": "So."})])
    scene, kind, _ = run(tmp_path, Speaker("stop", two))
    assert kind is OutcomeKind.STOPPED
    assert len(scene.results("call_1")) == len(scene.results("call_2")) == 1
    assert scene.sandbox.ran == []


def test_what_is_said_during_a_failing_call_is_still_taken_notice_of(
    tmp_path: Path,
) -> None:
    failing = ModelUnavailableError("No answer.", Usage(tokens_in=7))
    scene, kind, _ = run(tmp_path, Speaker("in French please", failing))
    assert kind is OutcomeKind.FAILED
    assert scene.run_log.state.usage.tokens_in == 7
    said = [e.id for e in scene.payloads("message") if e.source is Source.USER]
    assert scene.run_log.last_id >= said[0]


def test_the_attempt_before_is_not_shown(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        assert scene.run_log.last_id == 0
        scene.run()
    assert scene.asked()[0][1:] == (UserText(text=TASK),)


def test_each_request_begins_with_the_one_before(tmp_path: Path) -> None:
    speakers = [Speaker(f"number {n} please") for n in range(3)]
    steps: list[Step] = [speakers[0], ECHO, speakers[1], reply("Hm."), speakers[2]]
    with playing(tmp_path, [*steps, FINISH], hear=hear) as scene:
        for speaker in speakers:
            speaker.scene = scene
        scene.run()
    asked = scene.asked()
    assert len(asked) == 6
    for earlier, later in pairwise(asked):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)
