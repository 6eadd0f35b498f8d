"""The addresses to which the forms of a run's page are sent."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from patchwright.core.types.errors import WrongMomentError
from patchwright.core.types.people import Actor
from patchwright.core.webhook import (
    DeliveryVerdict,
    InboxResult,
    InboxUnavailableError,
)
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.runs.commands import (
    CommandInputError,
    RunAct,
    command_text,
)
from patchwright.workers.runs.selection import SHORT_ID_LENGTH
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.frame import HEADERS, render
from patchwright.workers.web.run_page.actions import FailedCommand, RunActions
from patchwright.workers.web.run_page.prose import prose_html

_MAX_FORM_BYTES: Final = 256 * 1024
_SEE_OTHER: Final = 303
_FORBIDDEN: Final = 403
_WRONG_MOMENT: Final = 409
_TOO_LARGE: Final = 413
_WRONG_INPUT: Final = 422
_UNAVAILABLE: Final = 503
_EXPIRED: Final = "This form has expired, so nothing was sent. Please send it again."
_NO_ACT: Final = "The form does not say what to do, so nothing was sent."
_TEXT_TOO_LONG: Final = "The text is too long."
_NOT_STORED: Final = (
    "It could not be stored, so nothing was sent. Please send it again."
)

log = structlog.get_logger(__name__)

# Returns the run if it exists and the visitor may see it; may take a while.
FindRun = Callable[[Request, str], Job | None]
# Answers for a run that the visitor may not see, or that does not exist.
ShowMissing = Callable[[Request, str], Response]


@dataclass(frozen=True)
class _Sender:
    """Somebody who sends a form about a run, and in whose name it counts."""

    principal: Principal
    job: Job
    by: Actor


def add_run_commands(
    app: FastAPI, actions: RunActions, find: FindRun, show_missing: ShowMissing
) -> None:
    @app.get("/runs/{job_id}/actions", include_in_schema=False)
    def show(request: Request, job_id: str) -> Response:
        """Return the part of the page that the state of the run changes."""
        job = find(request, job_id)
        if job is None:
            return Response(status_code=404)
        principal = actions.access.find_principal(request)
        return HTMLResponse(actions_html(actions, principal, job), 200, dict(HEADERS))

    @app.post("/runs/{job_id}/commands", include_in_schema=False)
    async def command(request: Request, job_id: str) -> Response:
        """Send a command or an answer to the run, and go back to its page."""

        def identify() -> _Sender | Response:
            job = find(request, job_id)
            if job is None:
                return show_missing(request, job_id)
            return _identify(actions, actions.access.find_principal(request), job)

        sender = await run_in_threadpool(identify)
        if isinstance(sender, Response):
            return sender
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            failed = FailedCommand(problem=_TEXT_TOO_LONG)
            return await run_in_threadpool(_again, actions, sender, failed, _TOO_LARGE)
        return await _take(actions, sender, _first_values(body))


def actions_html(actions: RunActions, principal: Principal | None, job: Job) -> str:
    """Return what the run asks and the forms, without the frame of a page."""
    return render(
        "run_actions.html",
        actions=actions.view(principal, job),
        prefix=actions.site.prefix,
        prose=prose_html,
    )


def _identify(
    actions: RunActions, principal: Principal | None, job: Job
) -> _Sender | Response:
    """Return who may steer the run, or the page that says why somebody may not."""
    site = actions.site
    if principal is None:
        sign_in = actions.sign_in(job)
        return site.show("sign_in_first.html", None, status=401, sign_in=sign_in)
    if not principal.role.allows(Role.MEMBER):
        return site.refuse(principal, Role.MEMBER)
    by = actions.access.steerer(principal, job)
    if by is None:
        failed = FailedCommand(problem=actions.why_not(principal, job))
        return _failed_page(actions, principal, job, failed, _FORBIDDEN)
    return _Sender(principal, job, by)


async def _take(
    actions: RunActions, sender: _Sender, fields: Mapping[str, str]
) -> Response:
    act, typed = fields.get("act", ""), fields.get("text", "")
    # Browsers end lines as mail does.
    typed = typed.replace("\r\n", "\n")

    async def refuse(problem: str, status: int) -> Response:
        failed = FailedCommand(problem=problem, act=act, typed=typed)
        return await run_in_threadpool(_again, actions, sender, failed, status)

    tokens, holder = actions.site.form_tokens, sender.principal.key
    word = tokens.word_of(fields.get("check", ""), holder)
    if not word:
        return await refuse(_EXPIRED, _FORBIDDEN)
    if act not in set(RunAct):
        return await refuse(_NO_ACT, _WRONG_INPUT)
    try:
        text = command_text(RunAct(act), typed)
        sending = await run_in_threadpool(
            actions.commands.send, sender.job, text, sender.by, word
        )
        stored = await asyncio.wrap_future(sending)
    except CommandInputError as error:
        return await refuse(_sentence(error), _WRONG_INPUT)
    except WrongMomentError as error:
        return await refuse(_sentence(error), _WRONG_MOMENT)
    except InboxUnavailableError:
        return await refuse(_NOT_STORED, _UNAVAILABLE)
    log.info("command_sent", job_id=sender.job.id, act=act, verdict=stored.verdict)
    return _go_on(actions, sender.job, act, stored)


def _go_on(
    actions: RunActions, job: Job, act: str, stored: InboxResult
) -> RedirectResponse:
    """Go back to the run, or on to the one that was started."""
    runs = f"{actions.site.prefix}/runs"
    is_new = stored.job_id is not None and stored.job_id != job.id
    if is_new:
        return RedirectResponse(f"{runs}/{stored.job_id}", _SEE_OTHER)
    is_sent = stored.verdict is not DeliveryVerdict.DUPLICATE
    sent = f"?sent={act}" if is_sent else ""
    return RedirectResponse(f"{runs}/{job.id}{sent}", _SEE_OTHER)


def _again(
    actions: RunActions, sender: _Sender, failed: FailedCommand, status: int
) -> Response:
    return _failed_page(actions, sender.principal, sender.job, failed, status)


def _failed_page(
    actions: RunActions,
    principal: Principal,
    job: Job,
    failed: FailedCommand,
    status: int,
) -> Response:
    """Show what is wrong above the forms as they are now, with what was typed."""
    return actions.site.show(
        "run_command_failed.html",
        principal,
        status=status,
        actions=actions.view(principal, job, failed=failed),
        run_id=job.id,
        title=job.trigger.title or f"Run {job.id[:SHORT_ID_LENGTH]}",
        prose=prose_html,
    )


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _first_values(body: bytes) -> dict[str, str]:
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
