"""What the form for a request works with, and how a form of ours is known."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

from fastapi import Request

from patchwright.core.clock import Clock
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.workers.intake.delivery import Delivery, InboxResult
from patchwright.workers.intake.own_requests import make_own_delivery
from patchwright.workers.web.asking.form import RequestedRun
from patchwright.workers.web.asking.pace import FormRateLimit

WEB_SERVICE: Final = "web"
_FORM_TOKEN: Final = re.compile(r"([\w-]{22})\.([0-9a-f]{64})\Z")
_WORD_BYTES: Final = 16
_NUMBER_BITS: Final = 31


@dataclass(frozen=True)
class RequestFormRoutes:
    """Takes requests from people who are signed in.

    `may_read` and `offer_to`, which names repositories to choose from, may take a
    while. `find_job` returns the newest run in a thread. `site` is the address of the
    forge's own pages, and `prefix` the path under which people reach us.
    """

    secret: bytes
    clock: Clock
    find_viewer: Callable[[Request], Actor | None]
    may_read: Callable[[RepoRef, Actor], bool]
    submit: Callable[[Delivery], "Future[Stored]"]
    find_job: Callable[[ForgeThread], JobId | None]
    offer_to: Callable[[Actor], tuple[str, ...]]
    forge: str
    site: str
    rate_limit: FormRateLimit
    login_path: str
    prefix: str = ""

    def new_form_token(self, viewer: Actor) -> str:
        """Return a word for one form, which no other page and nobody else can make."""
        word = secrets.token_urlsafe(_WORD_BYTES)
        return f"{word}.{self._sign(word, viewer)}"

    def form_id(self, check: str, viewer: Actor) -> str:
        """Return the form's own word; empty for a form that is not of ours."""
        parts = _FORM_TOKEN.match(check)
        if parts is None:
            return ""
        is_ours = hmac.compare_digest(self._sign(parts[1], viewer), parts[2])
        return parts[1] if is_ours else ""

    def _sign(self, word: str, viewer: Actor) -> str:
        key = hmac.digest(self.secret, b"form for a request", "sha256")
        return hmac.digest(key, f"{word} {viewer.subject}".encode(), "sha256").hex()

    def make_delivery(self, wanted: RequestedRun, viewer: Actor, word: str) -> Delivery:
        """Return the request; sent twice, by a second click, it is the same one."""
        request = "plan" if wanted.plan_first else ""
        if wanted.thread is None:
            return make_own_delivery(
                WEB_SERVICE,
                word,
                repo=wanted.repo,
                number=_request_number(word),
                actor=viewer,
                text=wanted.text,
                now=self.clock.now(),
                request=request,
            )
        trigger = Trigger(
            key=f"{WEB_SERVICE}:{word}",
            kind=TriggerKind.COMMENT_MENTION,
            actor=viewer,
            thread=wanted.thread,
            request=f"{request} {wanted.text}".strip(),
        )
        return Delivery(
            service=WEB_SERVICE,
            id=word,
            headers={},
            body=b"",
            received_at=self.clock.now(),
            reading=trigger,
        )

    def thread_of(self, wanted: RequestedRun, word: str) -> ForgeThread:
        if wanted.thread is not None:
            return wanted.thread
        number = _request_number(word)
        return ForgeThread(repo=wanted.repo, kind=ThreadKind.REQUEST, number=number)


def _request_number(word: str) -> int:
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _NUMBER_BITS)
