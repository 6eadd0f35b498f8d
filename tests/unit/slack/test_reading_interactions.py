"""What people press, pick, type after a command, and send as a form."""

from typing import Any

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    OptionsRequest,
    TriggerKind,
)
from patchwright.integrations.slack.text import actions
from patchwright.integrations.slack.text.actions import (
    FormTarget,
    Press,
    block_about,
    encode_form,
    encode_press,
    numbered,
)
from tests.unit.slack.samples import (
    ANN,
    CHANNEL,
    ROOT,
    TEAM,
    TS,
    command,
    interaction,
    press,
    read_json,
    reason_of,
    submission,
    trigger_of,
)

PERSON = Actor(service="slack", login="ann", external_id=ANN, host=TEAM)
THREAD = TalkThread(
    service="slack", place=f"{TEAM}/{CHANNEL}", kind=ThreadKind.CHAT, id=ROOT
)
ELSEWHERE = THREAD.replace(place="T1/C7", id="1712340000.000100")
APPROVE = encode_press(Press(command="approve"))


def button(value: str = APPROVE, **fields: Any) -> dict[str, Any]:
    usual = {"type": "button", "action_id": numbered(actions.COMMAND, 2)}
    return usual | {"value": value} | fields


def picker(repository: str | None, action_id: str) -> dict[str, Any]:
    option = {"value": repository} if repository else None
    kind = "external_select"
    return {"type": kind, "action_id": action_id, "selected_option": option}


def test_slash_command_opens_a_thread_that_has_no_message_yet() -> None:
    asked = trigger_of(command("fix <http://x.org|x.org> &amp; more"))
    assert asked.kind is TriggerKind.BODY_MENTION
    assert asked.thread == THREAD.replace(id="cmd-111.222.abc")
    assert (asked.request, asked.actor) == ("fix x.org & more", PERSON)


@pytest.mark.parametrize("text", ["", "help"])
def test_slash_command_may_say_little(text: str) -> None:
    assert trigger_of(command(text)).request == text


def test_command_of_another_app_is_ignored() -> None:
    assert reason_of(command("x", command="/deploy")) == "other-command"


def test_button_gives_its_command_in_the_thread_of_its_message() -> None:
    pressed = trigger_of(press(button()))
    assert (pressed.kind, pressed.request) == (TriggerKind.COMMENT_MENTION, "approve")
    assert (pressed.thread, pressed.actor) == (THREAD, PERSON)


def test_button_elsewhere_tells_the_thread_that_it_is_about() -> None:
    block = block_about(ELSEWHERE, 3)
    assert trigger_of(press(button(block_id=block))).thread == ELSEWHERE


GUEST = {"team": {"id": "T9"}, "user": {"id": "U9", "team_id": "T9"}}


def test_guest_who_presses_is_answered_by_the_installation_of_the_thread() -> None:
    asking = encode_press(Press(command="budget", asks="How much?"))
    form = read_json(press(button(asking, block_id=block_about(THREAD, 0)), **GUEST))
    assert isinstance(form, FormRequest)
    assert (form.installation, form.actor.host, form.thread) == (TEAM, "T9", THREAD)


def test_guest_who_searches_is_answered_by_the_installation_of_the_thread() -> None:
    field = {"action_id": actions.REPOSITORY, "block_id": block_about(THREAD, 0)}
    wanted = read_json(interaction("block_suggestion", value="we", **field, **GUEST))
    assert isinstance(wanted, OptionsRequest)
    assert (wanted.installation, wanted.actor.host) == (TEAM, "T9")


def test_button_of_the_first_message_is_in_the_thread_of_it() -> None:
    shown = {"type": "message", "channel_id": CHANNEL, "message_ts": TS}
    pressed = trigger_of(press(button(), container=shown))
    assert pressed.thread == THREAD.replace(id=TS)


def test_button_that_needs_words_wants_a_form() -> None:
    value = encode_press(Press(command="budget", asks="How many dollars?"))
    assert read_json(press(button(value))) == FormRequest(
        actor=PERSON,
        handle="111.222.abc",
        thread=THREAD,
        command="budget",
        asks="How many dollars?",
        installation=TEAM,
    )


def test_second_press_is_another_request() -> None:
    first = trigger_of(press(button()))
    second = trigger_of(press(button(action_ts="1712349999.000100")))
    assert first.key != second.key
    assert first.key == trigger_of(press(button())).key


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (button(action_id=numbered(actions.OPEN, 1)), "link"),
        (button(action_id="a"), "other-action"),
        (picker(None, actions.REPOSITORY), "nothing-picked"),
    ],
)
def test_what_needs_no_answer_is_ignored(action: dict[str, Any], reason: str) -> None:
    assert reason_of(press(action)) == reason


def test_interaction_without_an_action_is_ignored() -> None:
    assert reason_of(press({}, actions=[])) == "no-action"


def test_button_on_a_page_that_is_about_no_thread_is_ignored() -> None:
    home = {"type": "view", "view_id": "V1"}
    assert reason_of(press(button(), container=home)) == "no-thread"


@pytest.mark.parametrize("value", ["", "approve", "[]", '{"asks": "x"}'])
def test_button_of_another_make_is_malformed(value: str) -> None:
    with pytest.raises(PayloadError):
        read_json(press(button(value)))


def test_picked_repository_answers_in_the_thread() -> None:
    picked = trigger_of(press(picker("acme/web", actions.REPOSITORY)))
    assert (picked.kind, picked.request) == (TriggerKind.REPLY, "acme/web")
    assert picked.thread == THREAD


@pytest.mark.parametrize("repository", ["acme/web", ""])
def test_default_repository_is_chosen_and_taken_back(repository: str) -> None:
    chosen = read_json(press(picker(repository, actions.DEFAULT_REPOSITORY)))
    assert chosen == DefaultChosen(
        actor=PERSON, repository=repository, installation=TEAM
    )


@pytest.mark.parametrize("action", [actions.REPOSITORY, actions.DEFAULT_REPOSITORY])
def test_typing_into_the_field_wants_repositories(action: str) -> None:
    typed = interaction("block_suggestion", action_id=action, value="we")
    wanted = OptionsRequest(actor=PERSON, query="we", installation=TEAM)
    assert read_json(typed) == wanted


def test_typing_into_another_field_is_ignored() -> None:
    typed = interaction("block_suggestion", action_id="es_a", value="we")
    assert reason_of(typed) == "other-action"


@pytest.mark.parametrize(
    "asking",
    [
        press({"type": "button", "action_id": actions.NEW_REQUEST}),
        interaction("shortcut", callback_id=actions.SHORTCUT_NEW_REQUEST),
    ],
)
def test_new_request_wants_a_form(asking: dict[str, Any]) -> None:
    form = read_json(asking)
    assert isinstance(form, FormRequest)
    assert (form.thread, form.command, form.handle) == (None, "", "111.222.abc")


@pytest.mark.parametrize("kind", ["shortcut", "message_action"])
def test_other_shortcuts_are_ignored(kind: str) -> None:
    assert reason_of(interaction(kind, callback_id="other")) == "other-shortcut"


def chosen_on(message: dict[str, Any] | None) -> dict[str, Any]:
    return interaction(
        "message_action",
        callback_id=actions.SHORTCUT_FIX_THIS,
        channel={"id": CHANNEL},
        message=message,
        action_ts="1712345999.000100",
    )


def test_shortcut_on_a_message_makes_its_words_the_request() -> None:
    asked = trigger_of(chosen_on({"ts": ROOT, "text": "a &lt; b fails", "user": "U7"}))
    assert asked.kind is TriggerKind.BODY_MENTION
    assert (asked.thread, asked.actor) == (THREAD, PERSON)
    assert asked.request.replace("\\", "") == asked.body.replace("\\", "")
    assert asked.request.replace("\\", "") == "a < b fails"


def test_shortcut_on_a_reply_asks_in_its_thread() -> None:
    asked = trigger_of(chosen_on({"ts": TS, "thread_ts": ROOT, "text": "it fails"}))
    assert asked.kind is TriggerKind.COMMENT_MENTION
    assert (asked.thread, asked.post_id, asked.text) == (THREAD, TS, "it fails")


@pytest.mark.parametrize("message", [None, {"text": "x"}])
def test_shortcut_without_a_message_is_ignored(message: dict[str, Any] | None) -> None:
    assert reason_of(chosen_on(message)) == "not-a-message"


def test_form_adds_its_words_to_the_command() -> None:
    target = encode_form(FormTarget(thread=THREAD, command="budget"))
    sent = trigger_of(submission({actions.FORM_WORDS: {"value": " +2 "}}, target))
    assert (sent.kind, sent.request) == (TriggerKind.COMMENT_MENTION, "budget +2")
    assert (sent.thread, sent.actor) == (THREAD, PERSON)


def test_form_of_a_new_request_opens_a_thread_with_its_author() -> None:
    filled: dict[str, dict[str, Any]] = {
        actions.FORM_WORDS: {"value": "fix it"},
        actions.FORM_REPOSITORY: {"selected_option": {"value": "acme/web"}},
    }
    sent = trigger_of(submission(filled))
    assert sent.kind is TriggerKind.BODY_MENTION
    assert sent.request == "fix it\n\nrepo:acme/web"
    assert sent.thread == TalkThread(
        service="slack",
        place=f"{TEAM}/@{ANN}",
        kind=ThreadKind.CHAT,
        id="cmd-111.222.abc",
    )


def test_form_without_words_is_ignored() -> None:
    assert reason_of(submission({})) == "nothing-written"


def test_form_of_another_make_is_ignored() -> None:
    assert reason_of(submission({}, callback_id="view-id")) == "other-form"


def test_form_that_does_not_say_what_it_is_for_is_malformed() -> None:
    with pytest.raises(PayloadError):
        read_json(submission({}, "This is for you!"))


def test_form_from_a_shared_channel_is_the_installations() -> None:
    sent = submission({actions.FORM_WORDS: {"value": "fix it"}})
    sent |= {"team": {"id": "T9"}, "user": {"id": "U9", "team_id": "T9"}}
    asked = trigger_of(sent)
    assert asked.installation == TEAM
    assert asked.actor.host == "T9"


def test_organization_wide_app_has_no_team_in_interactions() -> None:
    whole = {"team": None, "enterprise": {"id": "E1"}, "is_enterprise_install": True}
    pressed = trigger_of(press(button(), **whole))
    assert (pressed.installation, pressed.actor.host) == ("E1", TEAM)
    assert str(pressed.thread) == f"slack:E1/{CHANNEL}#{ROOT}"


def test_interaction_that_names_no_workspace_is_malformed() -> None:
    whole = {"team": None, "user": {"id": ANN}}
    with pytest.raises(PayloadError, match="no workspace"):
        read_json(press(button(), **whole))
