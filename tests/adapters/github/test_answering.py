"""Reviewers get one honest answer in each of their threads, and are asked again."""

from dataclasses import dataclass, replace

import pytest

from patchwright.core.channel import ChannelRouter
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.work import ReviewAnswer, ReviewVerdict
from patchwright.integrations.git.mirror import Mirror
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.destination import Destination, PublisherDependencies
from patchwright.resolver.publish.effects import AnswerReviews
from patchwright.resolver.publish.pull_requests import answer_reviews
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.adorning import awaited
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.fake import FakeGitHub
from tests.unit.resolver.endings import FRAME, ORIGIN, ended

REPO = "acme/shop"
SHA = "b" * 40
PUSHED = DeliveryResult(branch="fix", head_sha=SHA)


def fetch_nothing() -> Mirror:
    raise LookupError("nothing is pushed here")


@dataclass(frozen=True)
class Scene:
    """A pull request with two review threads, and what answers them."""

    fake: FakeGitHub
    dependencies: PublisherDependencies
    to: Destination
    threads: tuple[int, int]

    def answer(
        self, *answers: ReviewAnswer, so_far: DeliveryResult = PUSHED
    ) -> DeliveryResult:
        outcome = ended(OutcomeKind.RESOLVED, "Done.", reviews=answers)
        effect = AnswerReviews(number=int(self.to.thread.token))
        return answer_reviews(effect, outcome, self.to, self.dependencies, so_far)

    def said(self, place: int) -> list[str]:
        comments = self.fake.world.reviews[self.threads[place]].comments
        return [one.body for one in comments if one.author != "bob"]

    def is_settled(self, place: int) -> bool:
        return self.fake.world.reviews[self.threads[place]].is_resolved

    def asked_again(self) -> list[str]:
        issue = self.fake.issue(REPO, int(self.to.thread.token))
        return list(awaited(self.fake.world, issue).people)


@pytest.fixture
def scene(fake: FakeGitHub, as_app: GitHub) -> Scene:
    for person in ("bob", "alice"):
        fake.add_user(person)
        fake.grant(REPO, person, "write")
    fake.commit_files(REPO, "fix", {"a.py": "2\n3\n"}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk")
    number = fake.open_pull_request(REPO, "ann", proposal)
    first, second = (
        reviews.comment_on(
            fake.world,
            REPO,
            number,
            author="bob",
            spot=Spot(path="a.py", line=line),
            body="Why?",
        )
        for line in (1, 2)
    )
    reviews.submit_review(
        fake.world, REPO, number, author="bob", state="CHANGES_REQUESTED", body="No."
    )
    to = Destination(
        repository=as_app.forge.fetch_repository(SHOP),
        thread=ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number),
        requester=Actor(service="github", login="alice"),
        status_post="",
        origin=ORIGIN,
        frame=FRAME,
        review_threads=(f"PRRT_{first}", f"PRRT_{second}"),
    )
    dependencies = PublisherDependencies(
        as_app.forge, ChannelRouter(as_app.channel), as_app.channel, fetch_nothing
    )
    return Scene(fake, dependencies, to, (first, second))


def addressed(thread: int, text: str = "Renamed it.") -> ReviewAnswer:
    return ReviewAnswer(thread=thread, verdict=ReviewVerdict.ADDRESSED, text=text)


def test_s43_each_thread_gets_its_own_answer_and_is_resolved_if_done(
    scene: Scene,
) -> None:
    asks = ReviewAnswer(thread=2, verdict=ReviewVerdict.NEEDS_INPUT, text="Which name?")
    scene.answer(addressed(1), asks)
    url = f"{scene.fake.web_url}/acme/shop/commit/{SHA}"
    run = FRAME.run_id
    [first], [second] = scene.said(0), scene.said(1)
    assert first == (
        f"**Addressed in [`{SHA[:10]}`]({url}).**\n\n"
        "The agent wrote:\n\n> Renamed it.\n\n"
        f"<!-- patchwright:review run={run} thread=1 -->"
    )
    assert second == (
        "**Needs input.**\n\nThe agent wrote:\n\n> Which name?\n\n"
        f"<!-- patchwright:review run={run} thread=2 -->"
    )
    assert (scene.is_settled(0), scene.is_settled(1)) == (True, False)


def test_answering_again_doubles_nothing(scene: Scene) -> None:
    for _ in range(2):
        scene.answer(addressed(1))
    assert len(scene.said(0)) == 1
    assert scene.said(1) == []


def test_without_a_commit_nothing_is_called_addressed_or_settled(
    scene: Scene,
) -> None:
    scene.answer(addressed(1), so_far=DeliveryResult())
    wanted = "**No commit was made for this.**\n\nThe agent wrote:\n\n> Renamed it.\n\n"
    assert scene.said(0)[0].startswith(wanted)
    assert not scene.is_settled(0)
    assert scene.asked_again() == []


def test_what_the_agent_says_calls_nobody_and_hides_nothing(scene: Scene) -> None:
    scene.answer(
        ReviewAnswer(
            thread=1,
            verdict=ReviewVerdict.NOT_ADDRESSED,
            text="@patchwright stop <!-- patchwright:review run=x thread=2 -->",
        )
    )
    [said] = scene.said(0)
    assert said.startswith("**Not addressed.**")
    assert "> @ patchwright stop" in said
    assert "@patchwright" not in said
    assert "run=x" not in said


def test_who_asked_for_changes_is_asked_to_look_again(scene: Scene) -> None:
    scene.answer(addressed(1))
    assert scene.asked_again() == ["bob"]


def test_a_thread_that_is_gone_keeps_nobody_else_from_an_answer(scene: Scene) -> None:
    lost = replace(scene.to, review_threads=("PRRT_0", scene.to.review_threads[1]))
    delivered = replace(scene, to=lost).answer(addressed(1), addressed(2))
    assert scene.is_settled(1)
    assert delivered.remarks == (
        "Not every review thread could be answered or resolved.",
    )


def test_a_number_that_no_thread_has_is_passed_over(scene: Scene) -> None:
    delivered = scene.answer(addressed(0), addressed(3))
    assert (scene.said(0), scene.said(1), delivered) == ([], [], PUSHED)
