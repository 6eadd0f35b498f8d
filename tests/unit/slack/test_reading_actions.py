"""What our controls carry comes back as it was."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.integrations.slack.text import actions
from patchwright.integrations.slack.text.actions import FormTarget, Press

IDS = st.from_regex(r"[A-Z][A-Z0-9]{1,10}", fullmatch=True)
STAMPS = st.from_regex(r"(?:cmd-)?[0-9]{1,13}\.[0-9a-f.]{1,60}", fullmatch=True)
PLACES = st.tuples(IDS, st.sampled_from(["", "@"]), IDS)


@st.composite
def threads(draw: st.DrawFn) -> TalkThread:
    team, at, channel = draw(PLACES)
    return TalkThread(
        service="slack",
        place=f"{team}/{at}{channel}",
        kind=ThreadKind.CHAT,
        id=draw(STAMPS),
    )


@given(thread=threads(), number=st.integers(0, 49))
def test_block_says_which_thread_it_is_about(thread: TalkThread, number: int) -> None:
    block = actions.block_about(thread, number)
    assert actions.thread_of_block(block) == thread
    assert len(block) <= 255


@given(block=st.text())
def test_other_blocks_say_nothing(block: str) -> None:
    assert actions.thread_of_block(block) is None


@given(number=st.integers(0, 99))
def test_action_is_known_by_its_name_whatever_its_number(number: int) -> None:
    action_id = actions.numbered(actions.COMMAND, number)
    assert actions.action_of(action_id) == actions.COMMAND
    assert actions.action_of(actions.COMMAND) == actions.COMMAND


@given(command=st.text(), asks=st.text())
def test_button_carries_its_command(command: str, asks: str) -> None:
    press = Press(command=command, asks=asks)
    assert actions.decode_press(actions.encode_press(press)) == press


@given(thread=threads() | st.none(), command=st.text())
def test_form_carries_what_it_is_for(thread: TalkThread | None, command: str) -> None:
    target = FormTarget(thread=thread, command=command)
    assert actions.decode_form(actions.encode_form(target)) == target
