"""The page that each person finds under the app's name: runs, defaults, account.

https://docs.slack.dev/surfaces/app-home
"""

from collections.abc import Iterator
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.integrations.slack.actions import (
    DEFAULT_REPOSITORY,
    NEW_REQUEST,
)
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.buttons import (
    MAX_LABEL,
    Block,
    plain_text_object,
    repository_field,
)
from patchwright.integrations.slack.forms import option_of
from patchwright.integrations.slack.payloads import EmptyResponse
from patchwright.integrations.slack.text.outgoing import render

# With what else is on the page, far from the 100 blocks that a page may have.
# https://docs.slack.dev/reference/views/home-tab-views
MAX_RUNS: Final = 20
_MAX_HEADING: Final = 150


class HomeRun(Value):
    """A run in the list; `cost` is in words, such as `$0.41`."""

    state: str
    title: str
    url: str
    cost: str = ""


class HomePage(Value):
    """What the page of one person says.

    `linked_as` is their name on the forge, or empty.
    """

    runs: tuple[HomeRun, ...] = ()
    repository: str = ""
    linked_as: str = ""


def publish_home(api: SlackClient, actor: Actor, installation: str, facts: HomePage) -> None:
    """Show the page to the person whose it is."""
    view = home_view(facts)
    api.ask_now(
        installation,
        EmptyResponse,
        lambda client: client.views_publish(user_id=actor.external_id, view=view),
    )


def home_view(facts: HomePage) -> Block:
    blocks = [
        *_request_section(),
        *_account_section(facts),
        *_repository_section(facts),
        *_runs_section(facts.runs[:MAX_RUNS]),
    ]
    return {"type": "home", "blocks": blocks}


def _request_section() -> Iterator[Block]:
    yield _heading("Patchwright")
    yield from _text_blocks("Mention me in a channel, write to me here, or begin now.")
    button: Block = {
        "type": "button",
        "action_id": NEW_REQUEST,
        "style": "primary",
        "text": plain_text_object("New request", MAX_LABEL),
    }
    yield {"type": "actions", "elements": [button]}


def _account_section(facts: HomePage) -> Iterator[Block]:
    yield _heading("Account")
    if facts.linked_as:
        yield from _text_blocks(f"You are linked to **{_escape_markdown(facts.linked_as)}**.")
        return
    yield from _text_blocks(
        "You are not linked to an account where the code is. Ask for something, and "
        "you get a link for it."
    )


def _repository_section(facts: HomePage) -> Iterator[Block]:
    yield _heading("Default repository")
    field = repository_field("Find a repository", DEFAULT_REPOSITORY)
    if facts.repository:
        field["initial_option"] = option_of(facts.repository)
    yield {
        "type": "section",
        "text": plain_text_object("Where a request names none and its channel has none.", 3_000),
        "accessory": field,
    }


def _runs_section(runs: tuple[HomeRun, ...]) -> Iterator[Block]:
    yield _heading("My runs")
    if not runs:
        yield from _text_blocks("There are none yet.")
    for run in runs:
        cost = f" · {run.cost}" if run.cost else ""
        title = _escape_markdown(run.title) or "Untitled"
        yield from _text_blocks(f"**{_escape_markdown(run.state)}** · [{title}]({run.url}){cost}")


def _heading(words: str) -> Block:
    return {"type": "header", "text": plain_text_object(words, _MAX_HEADING)}


def _text_blocks(markdown: str) -> Iterator[Block]:
    for message in render(markdown):
        yield from message.blocks


def _escape_markdown(words: str) -> str:
    """Return words in which Markdown finds no markup."""
    line = " ".join(words.split())
    return "".join(f"\\{one}" if one in "\\`*_[]<>()#!~|&" else one for one in line)
