"""The forms that ask for words, and what a repository field shows."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import FormRequest
from patchwright.integrations.slack.actions import (
    FORM,
    FORM_REPOSITORY,
    FORM_WORDS,
    FormTarget,
    encode_form,
)
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.buttons import Block, plain_text_object, repository_field
from patchwright.integrations.slack.payloads import EmptyResponse

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
    return {"text": plain_text_object(_shortened(repository), _MAX_OPTION), "value": repository}


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
        "hint": plain_text_object("Where it is not said in the request.", _MAX_WORDS),
        "element": repository_field("Find a repository", FORM_REPOSITORY),
    }
