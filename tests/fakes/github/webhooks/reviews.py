"""Tell of reviews, and of each comment in them."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.pulls import pull_summary_json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.review_comments import (
    review_comment_json,
    told_review_json,
)
from tests.fakes.github.render.users import user_json
from tests.fakes.github.review_state import Review, ReviewComment, ReviewThread
from tests.fakes.github.state import World
from tests.fakes.github.webhooks.outbox import tell


def tell_review(
    world: World, review: Review, *, action: str, actor: str, before: str | None = None
) -> None:
    tell(
        world,
        review.repo,
        "pull_request_review",
        lambda: {
            "action": action,
            "review": told_review_json(world, review),
            **_around(world, review.repo, review.number, actor),
            **_changes(before),
        },
    )


def tell_comment(
    world: World,
    thread: ReviewThread,
    comment: ReviewComment,
    *,
    action: str,
    actor: str,
    before: str | None = None,
) -> None:
    tell(
        world,
        thread.repo,
        "pull_request_review_comment",
        lambda: {
            "action": action,
            "comment": review_comment_json(world, thread, comment),
            **_around(world, thread.repo, thread.number, actor),
            **_changes(before),
        },
    )


def _around(world: World, repo: str, number: int, actor: str) -> Json:
    return {
        "pull_request": pull_summary_json(world, world.issue(repo, number)),
        "repository": repository_json(world, world.repo(repo)),
        "sender": user_json(world, world.user(actor)),
    }


def _changes(before: str | None) -> Json:
    return {} if before is None else {"changes": {"body": {"from": before}}}
