"""What the deliveries of a GitLab come to, each in a line."""

from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.types.triggers import (
    BaseMoved,
    Ignored,
    ParsedWebhook,
    RepositoryMoved,
    StatusReported,
    ThreadClosed,
    Trigger,
)
from patchwright.integrations.gitlab.webhooks.reader import GitLabReceiver
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level

APP = "group/sub/app"
SECRET = "hook-secret"
BOT = "patchwright-bot"


@dataclass(frozen=True)
class Listener:
    """Reads what a GitLab has sent since it was last asked."""

    gitlab: FakeGitLab
    receiver: GitLabReceiver

    def hear(self) -> list[str]:
        readings = [self._read(one) for one in self.take()]
        return [told(one) for one in readings]

    def read_all(self) -> list[ParsedWebhook]:
        return [self._read(one) for one in self.take()]

    def take(self) -> list[tuple[dict[str, str], bytes]]:
        with self.gitlab.world.lock:
            sent = list(self.gitlab.world.deliveries)
            self.gitlab.world.deliveries.clear()
        return [(dict(one.headers), one.body) for one in sent]

    def _read(self, delivery: tuple[dict[str, str], bytes]) -> ParsedWebhook:
        return self.receiver.read(*delivery)


def listen_to(gitlab: FakeGitLab, clock: FakeClock) -> Listener:
    """Listen as the bot's user, who is a developer of the project."""
    bot = gitlab.world.user(BOT)
    rules = GitLabTriggerRules(
        mention="@patchwright", label="patchwright", own_id=bot.id, own_login=BOT
    )
    receiver = GitLabReceiver([SecretStr(SECRET)], (), rules, clock.now)
    return Listener(gitlab, receiver)


def furnish(gitlab: FakeGitLab) -> None:
    """Make the project, its people and its webhook."""
    gitlab.add_user("ann")
    gitlab.add_user("bob")
    gitlab.add_user(BOT)
    gitlab.add_project(APP, files={"a.py": "1\n2\n3\n"})
    for name in ("ann", BOT):
        gitlab.grant(APP, name, Level.DEVELOPER)
    gitlab.add_hook(APP, SECRET)
    gitlab.add_system_hook(SECRET)
    gitlab.world.deliveries.clear()


def told(reading: ParsedWebhook) -> str:
    """Write what a reading says; the key without what is the same in all of them."""
    match reading:
        case Trigger():
            name = reading.key.removeprefix("gitlab:group/sub/")
            hidden = f" ({reading.thread.audience})" if reading.thread.audience else ""
            return (
                f"{reading.kind} {name}{hidden} by {reading.actor.login}: "
                f"{reading.request}"
            ).rstrip(": ")
        case Ignored():
            return f"ignored: {reading.reason}"
        case ThreadClosed():
            how = "merged" if reading.is_merged else "closed"
            return f"{reading.thread} {'reopened' if reading.is_open else how}"
        case BaseMoved():
            return f"{reading.repo} {reading.branch} moved"
        case StatusReported():
            return f"{reading.branches} {'passed' if reading.has_passed else 'failed'}"
        case RepositoryMoved():
            return f"{reading.old} is {reading.new} now"
        case _:
            return type(reading).__name__
