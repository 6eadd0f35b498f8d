"""Make triggers of what somebody who started the job asks for."""

from dataclasses import dataclass
from typing import Final

from patchwright.core.channel import ServiceChannel
from patchwright.core.ci.system import ActionRequest, CiJob
from patchwright.core.commands import Verb, parse_command
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind

_MODE_REQUESTS: Final = {
    "fix": "Make the change itself: an answer in text is not enough.",
    "answer": "Answer as text. Change nothing.",
    "review-feedback": (
        "Address what reviewers have said in the open review threads of this pull "
        "request, each of them."
    ),
    "ci-fix": "Make the failing checks of this pull request pass.",
}
_OF_PULL_REQUESTS: Final = ("review-feedback", "ci-fix")


def with_mode(trigger: Trigger, mode: str) -> Trigger:
    """Return the request as the mode wants it; what is a command stays one.

    Raises `SettingsError` for a thread that the mode does not go with.
    """
    command = parse_command(trigger.request)
    if mode == "auto" or trigger.kind.is_automatic or command is not None:
        return trigger
    thread = trigger.thread
    if mode in _OF_PULL_REQUESTS and not thread.kind.is_pull:
        raise SettingsError(
            f"input `mode` is {mode}, which works only on pull requests; "
            f"{thread.name} is not one"
        )
    return trigger.replace(request=_request_for_mode(trigger.request, mode))


def _request_for_mode(request: str, mode: str) -> str:
    if mode == "plan":
        return f"{Verb.PLAN} {request}".strip()
    return "\n\n".join(part for part in (request, _MODE_REQUESTS[mode]) if part)


@dataclass(frozen=True)
class RunTriggers:
    """Whoever started a job asks, about a thread or with a text of their own."""

    job: CiJob
    channel: ServiceChannel[ForgeThread]

    def by_thread(self, ref: ForgeThread) -> Trigger:
        """Take all of a thread for the request; its kind need not be right."""
        thread = self.channel.fetch_opening(ref)
        return Trigger(
            key=f"{thread.ref}:run:{self.job.run_id}",
            kind=TriggerKind.BODY_MENTION,
            actor=self.actor(),
            thread=thread.ref,
            request="",
            title=thread.title,
            body=thread.posts[0].text,
        )

    def by_task(self, task: str) -> ActionRequest:
        job = self.job
        number = int(job.run_id) if job.run_id.isdigit() else 1
        trigger = Trigger(
            key=f"action:{job.run_id}:{job.run_attempt}",
            kind=TriggerKind.BODY_MENTION,
            actor=self.actor(),
            thread=ForgeThread(repo=job.repo, kind=ThreadKind.REQUEST, number=number),
            request="",
            body=task,
        )
        return ActionRequest(trigger, task)

    def actor(self) -> Actor:
        """Return who started the job; `SettingsError` where the CI does not say."""
        if not self.job.actor:
            raise SettingsError(
                f"{self.job.actor_variable}: not set, so the requester is unknown"
            )
        return self._person(self.job.actor, self.job.actor_id)

    def with_rerunner(self, trigger: Trigger) -> Trigger:
        """Also check the person who had the job run again."""
        again = self._person(self.job.rerun_by)
        if not again.login or is_same_login(again, self.actor()):
            return trigger
        return trigger.replace(others=(*trigger.others, again))

    def _person(self, login: str, external_id: str = "") -> Actor:
        return Actor(
            service=self.job.service,
            login=login,
            external_id=external_id,
            is_bot=self.job.is_bot(login),
        )


def is_same_login(one: Actor, other: Actor) -> bool:
    return one.login.casefold() == other.login.casefold()
