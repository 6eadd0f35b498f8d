"""How a run shows on GitHub besides its words: labels, checks, one call."""

import pytest

from patchwright.core.channel import ChannelRouter
from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import GitError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, Repository
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import Mirror
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.publish.destination import Destination, PublisherDependencies
from patchwright.resolver.publish.effects import (
    Effect,
    FinalMessage,
    Ping,
    ReportCheck,
    SwapLabels,
)
from patchwright.resolver.publish.publisher import Publisher
from patchwright.resolver.status_comment import StatusComment, begin_check
from tests.adapters.github.conftest import SHOP, connect, issue_ref
from tests.fakes.clock import START, FakeClock
from tests.fakes.direct_publisher import DirectPublisher
from tests.fakes.github.acts.checks import checks_on
from tests.fakes.github.bare import find_commit
from tests.fakes.github.fake import FakeGitHub
from tests.provision.waiting import wait_until
from tests.unit.resolver.endings import FRAME, ORIGIN, REPORT, ended, proven

LABELLED = FRAME.replace(label="patchwright")


@pytest.fixture
def number(fake: FakeGitHub) -> int:
    number = fake.open_issue("acme/shop", "ann", "Wrong sum", "It is off by one.")
    fake.label("acme/shop", number, "patchwright", "ann")
    return number


@pytest.fixture
def sha(fake: FakeGitHub) -> str:
    found = find_commit(fake.git_folder("acme/shop"), "refs/heads/trunk")
    assert found is not None
    return found


def perform(
    github: GitHub,
    thread: ForgeThread,
    effect: Effect,
    outcome: Outcome,
    *,
    frame: MessageHeader = LABELLED,
    so_far: DeliveryResult = DeliveryResult(),  # noqa: B008 - a frozen value
) -> DeliveryResult:
    repository = Repository(
        ref=SHOP, default_branch="trunk", clone_url="", web_url="", private=False
    )
    to = Destination(
        repository=repository,
        thread=thread,
        requester=Actor(service="github", login="ann"),
        status_post="",
        origin=ORIGIN,
        frame=frame,
    )
    dependencies = PublisherDependencies(
        github.forge, ChannelRouter(github.channel), github.channel, _no_mirror
    )
    return Publisher(dependencies, lambda _repo, _actors: None).perform(
        effect, outcome, to, so_far
    )


def _no_mirror() -> Mirror:
    raise GitError("nothing is pushed here")


def status_comment(
    github: GitHub, thread: ForgeThread, frame: MessageHeader
) -> StatusComment:
    watch = ProgressTracker("docker", START)
    return StatusComment(
        ChannelRouter(github.channel),
        thread,
        frame,
        watch,
        SystemClock(),
        publisher=DirectPublisher(),
        every_s=0.01,
    )


def bodies(fake: FakeGitHub, number: int) -> list[str]:
    return [comment.body for comment in fake.comments("acme/shop", number)]


def labels(fake: FakeGitHub, number: int) -> tuple[str, ...]:
    return fake.issue("acme/shop", number).labels


def test_labels_follow_the_run(fake: FakeGitHub, as_app: GitHub, number: int) -> None:
    thread = issue_ref(number)
    status_comment(as_app, thread, LABELLED).begin("")
    assert labels(fake, number) == ("patchwright:running",)
    perform(as_app, thread, SwapLabels(), proven())
    assert labels(fake, number) == ("patchwright:done",)
    status_comment(as_app, thread, LABELLED).begin("17")
    perform(as_app, thread, SwapLabels(), ended(OutcomeKind.STUCK, "x"))
    assert labels(fake, number) == ("patchwright:failed",)


def test_a_run_that_no_label_has_started_touches_none(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    status_comment(as_app, issue_ref(number), FRAME).begin("")
    perform(as_app, issue_ref(number), SwapLabels(), proven(), frame=FRAME)
    assert labels(fake, number) == ("patchwright",)


def test_labels_that_may_not_be_touched_are_left(fake: FakeGitHub, number: int) -> None:
    github = connect(fake, fake.add_user("reader"))
    status = status_comment(github, issue_ref(number), LABELLED)
    status.begin("")
    perform(github, issue_ref(number), SwapLabels(), proven())
    github.close()
    assert labels(fake, number) == ("patchwright",)
    assert status.post_id


def test_the_end_is_reported_on_the_old_commit_and_on_the_new_one(
    fake: FakeGitHub, as_app: GitHub, number: int, sha: str
) -> None:
    begin_check(
        as_app.forge, SHOP, sha, LABELLED, FakeClock(), publisher=DirectPublisher()
    )
    new = fake.commit_files("acme/shop", "fix", {"a.py": "2\n"}, author="ann")
    report = REPORT.replace(head_sha=new)
    outcome = proven().replace(head_sha=new, proof_report=report)
    so_far = DeliveryResult(branch="fix", pull_request=12)
    effect = ReportCheck(sha=sha)
    perform(as_app, issue_ref(number), effect, outcome, so_far=so_far)
    shown = [*checks_on(fake.world, SHOP.full_name, sha)]
    shown += checks_on(fake.world, SHOP.full_name, new)
    assert [(one.head_sha, one.conclusion) for one in shown] == [
        (sha, "success"),
        (new, "success"),
    ]


def test_a_commit_that_was_not_pushed_gets_no_report(
    fake: FakeGitHub, as_app: GitHub, number: int, sha: str
) -> None:
    refused = DeliveryResult(refusal="no")
    effect = ReportCheck(sha=sha)
    assert perform(as_app, issue_ref(number), effect, proven(), so_far=refused) == (
        refused
    )
    assert [one.head_sha for one in fake.world.check_runs.values()] == [sha]


def test_who_is_no_app_reports_no_check_and_goes_on(
    fake: FakeGitHub, as_user: GitHub, number: int, sha: str
) -> None:
    begin_check(
        as_user.forge, SHOP, sha, LABELLED, FakeClock(), publisher=DirectPublisher()
    )
    perform(as_user, issue_ref(number), ReportCheck(sha=sha), proven())
    assert fake.world.check_runs == {}


def test_p2_the_requester_is_called_once(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for _ in range(2):
        perform(as_app, issue_ref(number), Ping(), proven())
    [call] = bodies(fake, number)
    assert call.startswith("@ann **Done, proven** · ")


def test_s40_the_ping_does_not_replace_the_status_comment(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for effect in (FinalMessage(), Ping(), FinalMessage(), Ping()):
        perform(as_app, issue_ref(number), effect, proven())
    status, call = bodies(fake, number)
    assert "patchwright:state=resolved" in status
    assert "patchwright:ping" in call


def test_a_step_that_came_too_soon_after_an_edit_is_shown_later(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    status = status_comment(as_app, issue_ref(number), FRAME)
    status.begin("")
    payloads = (
        StateChanged(state=AgentState.RUNNING),
        RunCommand(command="make lint"),
        RunCommand(command="make test"),
    )
    with status:
        for number_, payload in enumerate(payloads, start=1):
            event = Event(id=number_, at=START, source=Source.AGENT, payload=payload)
            status.show(event)
        wait_until(lambda: "make test" in bodies(fake, number)[0], "the last step", 10)
    assert status.last.doing == "Step 0: `shell make test`"
