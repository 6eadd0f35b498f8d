"""Ask in tickets of Jira, and read what the bot answers there."""

from typing import Any

from tests.fakes.jira.state import Comment
from tests.flow.office import PROJECT, Office
from tests.flow.story import PING

TITLE = "Wrong sum"
WISH = "please fix the sum"


def open_ticket(office: Office, text: str = "The total ignores the pieces.") -> str:
    """Let ann open a ticket; return its key."""
    jira = office.jira
    key = jira.fake.create(PROJECT, jira.ann, TITLE, text)
    jira.tell()
    return key


def calling(office: Office, words: str = WISH) -> str:
    """Return words with a mention that calls us, as people pick it from a list."""
    fake = office.jira.fake
    return f"{fake.mention(fake.bot)} {words}"


def say(office: Office, key: str, text: str, author: str = "") -> str:
    """Comment on a ticket, tell the service, let it work; return the comment's id."""
    jira = office.jira
    comment = jira.fake.comment(key, author or jira.ann, text)
    tell(office)
    office.story.work()
    return comment


def tell(office: Office) -> None:
    """Carry all webhooks to the service, which must take them."""
    assert set(office.jira.tell()) <= {200, 202}


def ask(office: Office, words: str = WISH) -> str:
    """Ask in a comment on a new ticket, and let the service work; return the key."""
    key = open_ticket(office)
    say(office, key, calling(office, words))
    return key


def replies(office: Office, key: str) -> list[str]:
    """Return what the bot has said on a ticket, as wiki markup, but for its calls."""
    said = office.jira.answers(key)
    return [one.body.wiki for one in said if not _calls(one)]


def calls(office: Office, key: str) -> list[str]:
    """Return how the bot has called people on a ticket."""
    return [one.body.wiki for one in office.jira.answers(key) if _calls(one)]


def reply(office: Office, key: str) -> str:
    """Return the one thing that the bot has said on a ticket."""
    [only] = replies(office, key)
    return only


def _calls(comment: Comment) -> bool:
    return any(PING in mark for mark in comment.properties["patchwright"]["marks"])


def outline(node: dict[str, Any]) -> str:
    """Write a document (ADF) a node a line, below what it is in."""
    marks = [_named(mark) for mark in node.get("marks", [])]
    words = [repr(node["text"])] if "text" in node else []
    lines = [" ".join([_named(node), *words, *marks])]
    for child in node.get("content", []):
        lines += [f"  {line}" for line in outline(child).splitlines()]
    return "\n".join(lines)


def _named(node: dict[str, Any]) -> str:
    told = ",".join(f"{key}={value}" for key, value in node.get("attrs", {}).items())
    return f"{node['type']}({told})" if told else str(node["type"])
