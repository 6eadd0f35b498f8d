"""What every delivery about a thread has: where, who, and what to call it."""

from dataclasses import dataclass
from datetime import datetime

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.payloads import (
    GitHubDelivery,
    InstallationPayload,
    RepositoryPayload,
    ThreadPayload,
    GitHubUser,
)
from patchwright.integrations.github.reading.listening import (
    SERVICE,
    actor_of,
    is_same,
)


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """A delivery, and the thread that it is about."""

    delivery: GitHubDelivery
    thread: ThreadPayload
    kind: ThreadKind

    @property
    def ref(self) -> ForgeThread:
        repo = repo_ref_of(self.delivery.repository)
        return ForgeThread(repo=repo, kind=self.kind, number=self.thread.number)

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
        asker: GitHubUser,
        *,
        request: str = "",
        text: str = "",
        post_id: str = "",
        review_id: str = "",
    ) -> Trigger:
        """Make a trigger; `name` is what the request is called within its thread."""
        return Trigger(
            key=f"{self.ref}:{name}",
            kind=kind,
            actor=actor_of(asker),
            thread=self.ref,
            request=request,
            title=self.thread.title,
            body=self.thread.body,
            text=text,
            post_id=post_id,
            review_id=review_id,
            others=self._others(asker),
            installation=installation_id_of(self.delivery.installation),
            at=self.at,
        )

    @property
    def at(self) -> datetime | None:
        """When the thread had last changed; None if that is no time."""
        try:
            at = datetime.fromisoformat(self.thread.updated_at)
        except ValueError:
            return None
        return at if at.tzinfo else None

    def _others(self, asker: GitHubUser) -> tuple[Actor, ...]:
        sender = self.delivery.sender
        return () if is_same(sender, asker) else (actor_of(sender),)


def repo_ref_of(repository: RepositoryPayload) -> RepoRef:
    return RepoRef(forge=SERVICE, full_name=repository.full_name)


def installation_id_of(installation: InstallationPayload | None) -> str:
    return "" if installation is None else str(installation.id)
