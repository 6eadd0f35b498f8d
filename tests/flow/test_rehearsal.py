"""In a rehearsal a run writes nothing outside, and tells what it would."""

from pathlib import Path

from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.services import RunOverrides
from patchwright.workers.jobs.dry_run import list_planned_writes
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.dispatch import RequestSeen
from tests.fakes.llm.turns import call
from tests.flow.story import REPO, Story, fix_turns, telling

PLAIN = "Three pieces cost as much as one."
WISH = "@patchwright please fix the sum"
REHEARSES = RunOverrides(is_dry_run=True)
# A POST each, and still no more than a way to read.
READS = ("/access_tokens", "/graphql", "/git-upload-pack")


def told(story: Story) -> list[str]:
    [job] = story.jobs()
    return list(list_planned_writes(story.base.stores, job.id))


def writes(story: Story, since: int) -> list[RequestSeen]:
    return [
        one
        for one in story.github.requests[since:]
        if one.method != "GET" and not one.path.partition("?")[0].endswith(READS)
    ]


def test_nothing_is_written_and_everything_is_told_in_order(tmp_path: Path) -> None:
    rules = {".patchwright.toml": 'labels = ["bot"]\nreviewers = ["alice"]\n'}
    with telling(tmp_path, fix_turns(), files=rules, overrides=REHEARSES) as story:
        issue = story.ask(WISH)
        since = len(story.github.requests)
        story.work()
        outcome = story.outcome()
        assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
        assert outcome.usage.tokens_in
        assert writes(story, since) == []
        assert story.branches() == []
        assert story.github.pull_requests(REPO) == []
        assert story.replies(issue) == story.reactions(issue) == []
        seen, *rest = told(story)
        assert seen == "React to the request in acme/shop#1: seen."
        working, push, opened, put, final, ping = rest
        assert working.startswith("Comment on acme/shop#1")
        assert f"Push {outcome.head_sha[:10]} with 2 files to the branch" in push
        assert "- `cart.py`" in push
        assert (
            "from `patchwright/1-wrong-sum` into `main`: “Count every piece”" in opened
        )
        assert "**Proven**" in opened
        assert "- labels: bot" in put
        assert final.startswith("Change the comment on acme/shop#1")
        assert "**Done, proven**" in final
        assert "@alice" in ping


def test_a_refusal_is_told_and_not_shown(tmp_path: Path) -> None:
    with telling(tmp_path, [], overrides=REHEARSES) as story:
        issue = story.ask(WISH, author="eve")
        since = len(story.github.requests)
        story.work()
        assert story.outcome().reason == "not-permitted"
        assert writes(story, since) == []
        assert story.reactions(issue) == []
        assert told(story) == ["React to the request in acme/shop#1: declined."]


def test_labels_and_checks_stay_as_they_are(tmp_path: Path) -> None:
    turns = [call("finish", answer="Yes.", summary="Looked.")]
    with telling(tmp_path, turns, overrides=REHEARSES) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", PLAIN)
        story.github.label(REPO, issue, "patchwright", "alice")
        story.tell()
        since = len(story.github.requests)
        story.work()
        assert story.outcome().kind is OutcomeKind.ANSWERED
        assert writes(story, since) == []
        assert story.github.issue(REPO, issue).labels == ("patchwright",)
        assert any(
            one.startswith("Change labels of acme/shop#1") for one in told(story)
        )


def test_a_pull_request_its_checks_and_its_reviews_stay_as_they_are(
    tmp_path: Path,
) -> None:
    answered = {"thread": 1, "verdict": "addressed", "text": "Named it."}
    turns = [
        call("write", path="note.txt", content="Done.\n"),
        call("finish", title="Add a note", summary="Noted.", reviews=[answered]),
    ]
    with telling(tmp_path, turns, overrides=REHEARSES) as story:
        head = story.github.commit_files(REPO, "work", {"x.py": "x = 1\n"})
        proposal = Proposal(title="Try x", head="work", base="main", body="Mine.")
        pull = story.github.open_pull_request(REPO, "alice", proposal)
        spot, world = Spot(path="x.py", line=1), story.github.world
        body = "@patchwright please name it better"
        reviews.comment_on(world, REPO, pull, author="alice", spot=spot, body=body)
        for delivery in story.github.deliveries:
            story.deliver(delivery)
        since = len(story.github.requests)
        story.work()
        assert story.outcome().kind is OutcomeKind.RESOLVED
        assert writes(story, since) == []
        [seen] = story.github.pull_requests(REPO)
        assert seen.head_sha == head
        words = "\n".join(told(story))
        assert f"Report a check on {head[:10]} of acme/shop" in words
        assert f"to the branch `work` of {story.github.web_url}" in words
        assert f"which is at {head[:10]} now" in words
        assert "Answer a review thread of acme/shop#1" in words
        assert "Resolve the review thread" in words
