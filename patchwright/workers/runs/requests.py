"""A request that was made on a page or by the API, and its delivery."""

import hashlib
import re
from datetime import datetime
from typing import Final

from patchwright.core.plugin import ServiceProfile
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ThreadKind,
    name_pattern,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.webhook import Delivery, make_own_delivery
from patchwright.resolver.repository_references import read_thread_url

MAX_TEXT_CHARS: Final = 20_000
_MAX_TITLE_CHARS: Final = 100
_NUMBER_BITS: Final = 31


class RequestedRun(Value):
    """What is wanted, and in which repository; with `thread` it is about that one."""

    repo: RepoRef
    thread: ForgeThread | None
    text: str
    plan_first: bool


class RequestInput(Value):
    """What was typed: a repository or the address of a thread, and the task."""

    where: str = ""
    text: str = ""
    plan_first: bool = False


def validate_request(typed: RequestInput, forge: ServiceProfile) -> RequestedRun | str:
    """Return what is wanted, or a sentence that says what is wrong."""
    web_url = forge.web_url
    thread = read_thread_url(typed.where, web_url, forge.name, forge.forms)
    repo = thread.repo if thread else _repository(typed.where, forge)
    if repo is None:
        return (
            f"“{typed.where}” is not a repository. Enter OWNER/NAME, or the URL of "
            f"an issue or a pull request on {web_url}."
        )
    if not typed.text and thread is None:
        return "Enter a task."
    if len(typed.text) > MAX_TEXT_CHARS:
        return (
            f"The text has {len(typed.text)} characters, the limit is "
            f"{MAX_TEXT_CHARS}. Write the text in an issue, and give its URL "
            "instead of the repository."
        )
    return RequestedRun(
        repo=repo, thread=thread, text=typed.text, plan_first=typed.plan_first
    )


def _repository(where: str, forge: ServiceProfile) -> RepoRef | None:
    name = where.removeprefix(f"{forge.web_url}/").removesuffix(".git").rstrip("/")
    pattern = name_pattern(has_groups=forge.forms.has_groups)
    is_name = re.fullmatch(pattern, name)
    return RepoRef(forge=forge.name, full_name=name) if is_name else None


def make_request_delivery(
    service: str, word: str, wanted: RequestedRun, actor: Actor, now: datetime
) -> Delivery:
    """Return what was asked for; with the same `word` it is the same request.

    In no thread of its own it begins with its text, as an issue does.
    """
    thread = requested_thread(wanted, word)
    request = "plan" if wanted.plan_first else ""
    if wanted.thread is None:
        trigger = Trigger(
            key=f"{service}:{word}",
            kind=TriggerKind.BODY_MENTION,
            actor=actor,
            thread=thread,
            request=request,
            title=_title_of(wanted.text),
            body=wanted.text,
        )
    else:
        trigger = Trigger(
            key=f"{service}:{word}",
            kind=TriggerKind.COMMENT_MENTION,
            actor=actor,
            thread=thread,
            request=f"{request} {wanted.text}".strip(),
        )
    return make_own_delivery(service, word, trigger, now)


def requested_thread(wanted: RequestedRun, word: str) -> ForgeThread:
    if wanted.thread is not None:
        return wanted.thread
    number = _request_number(word)
    return ForgeThread(repo=wanted.repo, kind=ThreadKind.REQUEST, number=number)


def _request_number(word: str) -> int:
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _NUMBER_BITS)


def _title_of(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    title = first.strip().lstrip("# ")
    is_long = len(title) > _MAX_TITLE_CHARS
    return f"{title[: _MAX_TITLE_CHARS - 1]}…" if is_long else title
