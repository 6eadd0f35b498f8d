"""Let a run work for real and write nothing outside: here is all that could."""

from dataclasses import dataclass, replace

from patchwright.core.switchboard import ChannelRouter
from patchwright.core.text.fence import inline_code
from patchwright.core.types.people import Actor
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.remote import BranchUpdate, Remote
from patchwright.resolver.delivering.destination import Invitation
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.run.rehearsal import DryRun
from patchwright.workers.run.rehearsed_channel import (
    DryRunTracker,
    DryRunChannel,
)
from patchwright.workers.run.rehearsed_forge import DryRunForge, DryRunReviews
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Lease


def as_dry_run(services: RunServices, lease: Lease) -> RunServices:
    """Return the services of one run, which tell what they would write."""
    redact = services.stores.events.redact
    rehearsal = DryRun(
        services.stores.outcomes, lease, lambda text: str(redact(text))
    )
    github, talk = services.code_host, services.chat
    return replace(
        services,
        github=replace(
            github,
            forge=DryRunForge(github.forge, rehearsal),
            reviews=DryRunReviews(github.reviews, rehearsal),
        ),
        channel=_dry_run_channel(services.channel, rehearsal),
        # A link that is sent to nobody must not be made.
        talk=replace(talk, invite=_invite, renew=_invite),
        mirrors=services.mirrors.with_push(DryRunPush(rehearsal)),
    )


def _dry_run_channel(channel: ChannelRouter, rehearsal: DryRun) -> ChannelRouter:
    # What no service knows has pages of ours alone.
    return replace(
        channel,
        forge=DryRunChannel(channel.forge, rehearsal),
        trackers={
            name: DryRunTracker(tracker, rehearsal)
            for name, tracker in channel.trackers.items()
        },
    )


def _invite(_actor: Actor) -> Invitation:
    return Invitation(text="Show who you are where the code lives, by a link of yours.")


@dataclass(frozen=True)
class DryRunPush:
    """Pushes nothing, and tells what it would."""

    rehearsal: DryRun

    def __call__(self, store: GitDir, remote: Remote, update: BranchUpdate) -> None:
        # What a push would refuse is refused.
        update.ref()
        code = ObjectStore(store)
        changed = code.changed_paths(code.parents_of(update.sha)[0], update.sha)
        at = update.expect
        over = f", which is at {at[:10]} now" if at else ""
        self.rehearsal.record(
            f"Push {update.sha[:10]} with {count_noun(len(changed), 'file')} to the "
            f"branch `{update.branch}` of {remote.url}{over}",
            "\n".join(f"- {inline_code(change.shown)}" for change in changed),
        )
