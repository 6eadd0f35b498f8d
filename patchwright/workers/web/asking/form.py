"""What somebody typed into the form for a request, and what is wrong with it."""

import re
from collections.abc import Mapping
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, RepoRef
from patchwright.resolver.thread_urls import read_thread_url

MAX_TEXT_CHARS: Final = 20_000
_FULL_NAME: Final = re.compile(r"[\w-]{1,100}/(?!\.\.?\Z)[\w.-]{1,100}\Z")


class RequestedRun(Value):
    """What is wanted, and in which repository; with `thread` it is about that one."""

    repo: RepoRef
    thread: ForgeThread | None
    text: str
    plan_first: bool


class FormInput(Value):
    """The fields as they were typed, to be shown again beside what is wrong."""

    where: str = ""
    text: str = ""
    plan_first: bool = False


def read_form(fields: Mapping[str, str]) -> FormInput:
    return FormInput(
        where=fields.get("where", "").strip(),
        # Browsers end lines as mail does.
        # https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#constructing-the-form-data-set
        text=fields.get("text", "").replace("\r\n", "\n").strip(),
        plan_first=fields.get("plan") == "yes",
    )


def validate_form(typed: FormInput, forge: str, web_url: str) -> RequestedRun | str:
    """Return what is wanted, or a sentence that says what is wrong."""
    thread = read_thread_url(typed.where, web_url, forge)
    repo = thread.repo if thread else _repository(typed.where, forge, web_url)
    if repo is None:
        return (
            f"“{typed.where}” is no repository: write OWNER/NAME, or the address of an "
            f"issue or a pull request on {web_url}."
        )
    if not typed.text and thread is None:
        return "Say what is to be done."
    if len(typed.text) > MAX_TEXT_CHARS:
        return (
            f"The text has {len(typed.text)} characters; {MAX_TEXT_CHARS} are read. "
            "Put the rest into an issue, and give its address above."
        )
    return RequestedRun(
        repo=repo, thread=thread, text=typed.text, plan_first=typed.plan_first
    )


def _repository(where: str, forge: str, web_url: str) -> RepoRef | None:
    name = where.removeprefix(f"{web_url}/").removesuffix(".git").rstrip("/")
    return RepoRef(forge=forge, full_name=name) if _FULL_NAME.match(name) else None
