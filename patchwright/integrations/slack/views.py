"""The views of the Slack app: forms that ask for words, and each person's home page."""

from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.plugin_host import PersonSummary, ShownRun
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import FormRequest
from patchwright.integrations.slack.client import SlackClient
from patchwright.integrations.slack.responses import EmptyResponse
from patchwright.integrations.slack.text.actions import (
    DEFAULT_REPOSITORY,
    FORM,
    FORM_REPOSITORY,
    FORM_WORDS,
    MAX_LABEL,
    NEW_REQUEST,
    Block,
    FormTarget,
    encode_form,
    plain_text_object,
    repository_field,
)
from patchwright.integrations.slack.text.message_writer import render

# https://docs.slack.dev/reference/views/modal-views
_MAX_TITLE: Final = 24
_MAX_WORDS: Final = 2_000
# https://docs.slack.dev/reference/block-kit/composition-objects/option-object
_MAX_OPTION: Final = 75
_MAX_VALUE: Final = 150
_MAX_OPTIONS: Final = 100
_MAX_CONTEXT: Final = 3_000
_NEW: Final = "What should be done?"


def open_form(api: SlackClient, wanted: FormRequest) -> None:
    """Show the form to who pressed the button; nothing is waited for.

    Raises `InvalidRequestError` once the three seconds for it are over.
    """
    view = form_view(wanted)
    api.ask_now(
        wanted.installation,
        EmptyResponse,
        lambda client: client.views_open(trigger_id=wanted.handle, view=view),
    )


def form_view(wanted: FormRequest) -> Block:
    """Return the form; one about no thread is a request, and may name its repository.

    https://docs.slack.dev/reference/views/modal-views
    """
    thread = wanted.thread if isinstance(wanted.thread, TalkThread) else None
    target = FormTarget(thread=thread, command=wanted.command)
    fields = [_words_field(wanted)]
    if thread is None:
        fields.append(_repository_input())
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": encode_form(target),
        "title": plain_text_object("Patchwright", _MAX_TITLE),
        "submit": plain_text_object("Send", _MAX_TITLE),
        "close": plain_text_object("Cancel", _MAX_TITLE),
        "blocks": fields,
    }


def options_of(repositories: Iterable[str]) -> Block:
    """Return the answer to what was typed into a repository field.

    https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload
    """
    fitting = [name for name in repositories if len(name) <= _MAX_VALUE]
    return {"options": [option_of(name) for name in fitting[:_MAX_OPTIONS]]}


def option_of(repository: str) -> Block:
    return {
        "text": plain_text_object(_shortened(repository), _MAX_OPTION),
        "value": repository,
    }


def _shortened(repository: str) -> str:
    """Keep the end of a long name, which tells it from its neighbours."""
    if len(repository) <= _MAX_OPTION:
        return repository
    return f"…{repository[-_MAX_OPTION + 1 :]}"


def _words_field(wanted: FormRequest) -> Block:
    is_long = wanted.thread is None or wanted.command != "budget"
    return {
        "type": "input",
        "block_id": FORM_WORDS,
        "label": plain_text_object(wanted.asks or _NEW, _MAX_WORDS),
        "element": {
            "type": "plain_text_input",
            "action_id": FORM_WORDS,
            "multiline": is_long,
            "max_length": _MAX_CONTEXT,
        },
    }


def _repository_input() -> Block:
    return {
        "type": "input",
        "block_id": FORM_REPOSITORY,
        "optional": True,
        "label": plain_text_object("Repository", _MAX_WORDS),
        "hint": plain_text_object("If the request does not name one.", _MAX_WORDS),
        "element": repository_field("Find a repository", FORM_REPOSITORY),
    }


# With what else is on the page, far from the 100 blocks that a page may have.
# https://docs.slack.dev/reference/views/home-tab-views
MAX_RUNS: Final = 20
_MAX_HEADING: Final = 150


def publish_home(
    api: SlackClient, actor: Actor, installation: str, facts: PersonSummary
) -> None:
    """Show the page to the person whose it is."""
    view = home_view(facts)
    api.ask_now(
        installation,
        EmptyResponse,
        lambda client: client.views_publish(user_id=actor.external_id, view=view),
    )


def home_view(facts: PersonSummary) -> Block:
    blocks = [
        *_request_section(),
        *_account_section(facts),
        *_repository_section(facts),
        *_runs_section(facts.runs[:MAX_RUNS]),
    ]
    return {"type": "home", "blocks": blocks}


def _request_section() -> Iterator[Block]:
    yield _heading("Patchwright")
    yield from _text_blocks("Mention me in a channel, write to me here, or start now.")
    button: Block = {
        "type": "button",
        "action_id": NEW_REQUEST,
        "style": "primary",
        "text": plain_text_object("New request", MAX_LABEL),
    }
    yield {"type": "actions", "elements": [button]}


def _account_section(facts: PersonSummary) -> Iterator[Block]:
    yield _heading("Account")
    if facts.linked_as:
        yield from _text_blocks(
            f"You are linked to **{_escape_markdown(facts.linked_as)}**."
        )
        return
    yield from _text_blocks(
        "Your account is not linked yet. Ask for something, and you get a link."
    )


def _repository_section(facts: PersonSummary) -> Iterator[Block]:
    yield _heading("Default repository")
    field = repository_field("Find a repository", DEFAULT_REPOSITORY)
    if facts.repository:
        field["initial_option"] = option_of(facts.repository)
    yield {
        "type": "section",
        "text": plain_text_object(
            "Used if neither the request nor its channel names one.", 3_000
        ),
        "accessory": field,
    }


def _runs_section(runs: tuple[ShownRun, ...]) -> Iterator[Block]:
    yield _heading("My runs")
    if not runs:
        yield from _text_blocks("No runs yet.")
    for run in runs:
        cost = f" · {run.cost}" if run.cost else ""
        title = _escape_markdown(run.title) or "Untitled"
        yield from _text_blocks(
            f"**{_escape_markdown(run.state)}** · [{title}]({run.url}){cost}"
        )


def _heading(words: str) -> Block:
    return {"type": "header", "text": plain_text_object(words, _MAX_HEADING)}


def _text_blocks(markdown: str) -> Iterator[Block]:
    for message in render(markdown):
        yield from message.blocks


def _escape_markdown(words: str) -> str:
    """Return words in which Markdown finds no markup."""
    line = " ".join(words.split())
    return "".join(f"\\{one}" if one in "\\`*_[]<>()#!~|&" else one for one in line)
