"""What a run asks of its reader, and the forms with which people steer it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, assert_never
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.approval import action_text
from patchwright.core.events.observations import ConfirmationAsked
from patchwright.core.events.types import AgentStep
from patchwright.core.text.strings import dollars, strip_invisible
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome, WaitReason
from patchwright.resolver.job import Job, is_over, outcome_of
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.runs.commands import (
    ActInput,
    RunAct,
    RunCommands,
    RunOffer,
    RunStanding,
    offers,
)
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.selection import SHORT_ID_LENGTH
from patchwright.workers.web.frame import Site
from patchwright.workers.web.run_access import RunAccess

_ACTION: Final[TypeAdapter[AgentStep]] = TypeAdapter(AgentStep)
_DIGEST_CHARS: Final = 12


class RiskyAction(Value):
    """`text` is all of it that can be seen; `digest` tells it from any other.

    `hidden` counts the characters that nobody sees, which may turn a text around.
    """

    name: str
    risk: str
    why: tuple[str, ...]
    text: str
    digest: str
    hidden: int = 0


def risky_action(asked: ConfirmationAsked) -> RiskyAction:
    text, hidden = strip_invisible(_text(asked))
    kind = str(asked.action.get("kind", "an action"))
    return RiskyAction(
        name=kind.replace("_", " "),
        risk=asked.risk,
        why=asked.why,
        text=text,
        digest=asked.digest[:_DIGEST_CHARS],
        hidden=hidden,
    )


def _text(asked: ConfirmationAsked) -> str:
    try:
        return action_text(_ACTION.validate_python(asked.action))
    except ValidationError:
        # Another version has asked: nothing of it is left out.
        return json.dumps(asked.action, indent=2, ensure_ascii=False)


class RunQuestion(Value):
    """What a run waits for: a text of the service, one of the agent, or an action."""

    title: str
    own_text: str = ""
    agent_text: str = ""
    action: RiskyAction | None = None


class ActionForm(Value):
    """A form for one offer; `check` shows that it is ours, and is of this form alone.

    `typed` is what somebody has typed in vain.
    """

    offer: RunOffer
    check: str
    typed: str = ""

    @property
    def id(self) -> str:
        return f"{self.offer.act}{self.offer.choice}"

    @property
    def is_button(self) -> bool:
        return self.offer.takes is ActInput.NOTHING


class FailedCommand(Value):
    """What somebody has sent, and the sentence that says why it was not done."""

    problem: str
    act: str = ""
    typed: str = ""


class ActionsView(Value):
    """What is at the top of a run's page.

    `answers` are the forms for what is asked, and `controls` the others. Where somebody
    may not steer the run, `why_not` says so, and `sign_in` is where they can. `sent` is
    the act that was sent just now. `other` is the run of the same thread that works.
    Forms are sent to `post_to`. A page whose `turn` is over has to be brought up to
    date.
    """

    post_to: str
    turn: str
    question: RunQuestion | None = None
    answers: tuple[ActionForm, ...] = ()
    controls: tuple[ActionForm, ...] = ()
    why_not: str = ""
    sign_in: str = ""
    note: str = ""
    other: str = ""
    sent: str = ""
    failed: FailedCommand | None = None


def turn_of(job: Job) -> str:
    """Return a word that changes when people can do something else with a run."""
    outcome = outcome_of(job)
    # At another step it is another question.
    step = f"-{outcome.iterations}-{outcome.reason}" if outcome else ""
    return f"{job.state}{step}"


_ANSWERING: Final = frozenset(
    {RunAct.APPROVE, RunAct.CONFIRM, RunAct.REJECT, RunAct.MESSAGE, RunAct.RESUME}
)
_VIEWER: Final = "Your role here is viewer: you can look at runs and change nothing."


@dataclass(frozen=True)
class RunActions:
    """Tells what a run asks and what its reader may do; `forge` is its title.

    People with write access can raise the budget of a run by `max_raise_usd` in all.
    """

    access: RunAccess
    commands: RunCommands
    reader: RunReader
    site: Site
    forge: str
    max_raise_usd: float

    def view(
        self,
        principal: Principal | None,
        job: Job,
        *,
        sent: str = "",
        failed: FailedCommand | None = None,
    ) -> ActionsView:
        """Return what somebody sees; may take a while, as forge and database may."""
        question = self._question(job)
        view = ActionsView(
            post_to=f"{self.site.prefix}/runs/{job.id}/commands",
            turn=turn_of(job),
            question=question,
            sent=sent if sent in set(RunAct) else "",
            failed=failed,
        )
        by = self.access.steerer(principal, job)
        if principal is None or by is None:
            return self._for_reader(view, principal, job)
        standing = self.commands.standing(job)
        forms = tuple(self._forms(principal, offers(job, standing, by), failed))
        is_asked = question is not None
        return view.replace(
            answers=tuple(one for one in forms if is_asked and _answers(one)),
            controls=tuple(one for one in forms if not (is_asked and _answers(one))),
            note=self._note(job, standing, by),
            other=standing.active or "" if is_over(job) else "",
        )

    def why_not(self, principal: Principal | None, job: Job) -> str:
        """Say why somebody may not steer a run."""
        if principal is None:
            return "Sign in to answer or to stop this run."
        if not principal.role.allows(Role.MEMBER):
            return _VIEWER
        if principal.identity is None:
            return f"To steer this run, you need an account on {self.forge}."
        repo = job.trigger.place
        where = f"write access to {repo.full_name}" if repo else "an administrator"
        return f"You can look at this run. To steer it, you need {where}."

    def sign_in(self, job: Job) -> str:
        """Return where people sign in and come back from; empty if they cannot."""
        if not self.site.login_path:
            return ""
        back = quote(f"{self.site.prefix}/runs/{job.id}", safe="")
        return f"{self.site.prefix}{self.site.login_path}?next={back}"

    def _for_reader(
        self, view: ActionsView, principal: Principal | None, job: Job
    ) -> ActionsView:
        if is_over(job):
            return view
        sign_in = self.sign_in(job) if principal is None else ""
        if principal is None and not sign_in:
            return view
        return view.replace(why_not=self.why_not(principal, job), sign_in=sign_in)

    def _forms(
        self,
        principal: Principal,
        offered: Iterable[RunOffer],
        failed: FailedCommand | None,
    ) -> Iterable[ActionForm]:
        for offer in offered:
            is_failed = failed is not None and failed.act == offer.act
            is_budget = offer.act is RunAct.BUDGET
            yield ActionForm(
                offer=self._with_limit(offer) if is_budget else offer,
                check=self.site.form_tokens.new(principal.key),
                typed=failed.typed if failed and is_failed else "",
            )

    def _with_limit(self, offer: RunOffer) -> RunOffer:
        most = dollars(self.max_raise_usd)
        limit = f"More than {most} in all takes an admin of the repository."
        return offer.replace(hint=f"{offer.hint} {limit}")

    def _note(self, job: Job, standing: RunStanding, by: Actor) -> str:
        if not is_over(job):
            return ""
        if standing.active is not None:
            other = standing.active[:SHORT_ID_LENGTH]
            return f"The run {other} of the same thread has not ended."
        if by.is_operator:
            return (
                "You can retry this run as an administrator. A new request needs an "
                f"account on {self.forge}."
            )
        return ""

    def _question(self, job: Job) -> RunQuestion | None:
        outcome = outcome_of(job)
        if outcome is None or not outcome.waits or is_over(job):
            return None
        reason = outcome.wait_reason
        if reason is not WaitReason.CONFIRMATION:
            return _asked_in_words(outcome)
        asked = self._last_asked(job)
        if asked is None:
            return _asked_in_words(outcome)
        return RunQuestion(title=_title(reason), action=risky_action(asked))

    def _last_asked(self, job: Job) -> ConfirmationAsked | None:
        span = self.reader.span(job)
        if not span.first:
            return None
        kinds = frozenset({"confirmation_asked"})
        found = self.reader.log_of(job).read(
            span.first, span.last, limit=1, reverse=True, kinds=kinds
        )
        payloads = [one.payload for one in found]
        return next((p for p in payloads if isinstance(p, ConfirmationAsked)), None)


def _answers(form: ActionForm) -> bool:
    return form.offer.act in _ANSWERING


def _asked_in_words(outcome: Outcome) -> RunQuestion:
    return RunQuestion(
        title=_title(outcome.wait_reason),
        own_text=outcome.own_text,
        agent_text=outcome.agent_text,
    )


def _title(reason: WaitReason) -> str:
    match reason:
        case WaitReason.PLAN:
            return "This plan waits for approval"
        case WaitReason.CONFIRMATION:
            return "This action waits for a yes"
        case WaitReason.PAUSED:
            return "This run is paused"
        case WaitReason.QUESTION:
            return "This run has a question"
        case _:
            assert_never(reason)
