"""Reviews and their comments as GitHub's REST and webhooks show them."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.issues import KINDS, association, thread_page
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.review_state import Review, ReviewComment, ReviewThread
from tests.fakes.github.state import World


def review_json(world: World, review: Review) -> Json:
    """Return it as the REST API shows it, which writes the state in capitals."""
    issue = world.issue(review.repo, review.number)
    page = f"{thread_page(world, issue)}#pullrequestreview-{review.id}"
    pull = _pull_url(world, review.repo, review.number)
    return {
        "id": review.id,
        "node_id": f"PRR_{review.id}",
        "user": _user(world, review.author),
        "body": review.body,
        "state": review.state,
        "commit_id": review.commit,
        "submitted_at": instant(review.submitted_at),
        "author_association": _association(world, review.repo, review.author),
        "html_url": page,
        "pull_request_url": pull,
        "_links": {"html": {"href": page}, "pull_request": {"href": pull}},
    }


def told_review_json(world: World, review: Review) -> Json:
    """Return it as webhooks show it: no capitals, and no words are null."""
    told = {"body": review.body or None, "state": review.state.lower()}
    return review_json(world, review) | told


def review_comment_json(
    world: World, thread: ReviewThread, comment: ReviewComment
) -> Json:
    issue = world.issue(thread.repo, thread.number)
    url = f"{api_path(world, thread.repo)}/pulls/comments/{comment.id}"
    page = f"{thread_page(world, issue)}#discussion_r{comment.id}"
    pull = _pull_url(world, thread.repo, thread.number)
    shown: Json = {
        "id": comment.id,
        "node_id": f"PRRC_{comment.id}",
        "pull_request_review_id": comment.review_id,
        "user": _user(world, comment.author),
        "body": comment.body,
        "created_at": instant(comment.created_at),
        "updated_at": instant(comment.updated_at),
        "author_association": _association(world, thread.repo, comment.author),
        "reactions": {
            "url": f"{url}/reactions",
            "total_count": 0,
            **dict.fromkeys(KINDS, 0),
        },
        "url": url,
        "html_url": page,
        "pull_request_url": pull,
        "_links": {
            "self": {"href": url},
            "html": {"href": page},
            "pull_request": {"href": pull},
        },
        **_place(world, thread, comment),
    }
    first = thread.comments[0]
    return shown if first == comment else shown | {"in_reply_to_id": first.id}


def _place(world: World, thread: ReviewThread, comment: ReviewComment) -> Json:
    commit = world.submitted[comment.review_id].commit
    started = None if thread.start_line is None else thread.side
    return {
        "path": thread.path,
        "diff_hunk": thread.hunk,
        "commit_id": commit,
        "original_commit_id": commit,
        "position": thread.hunk.count("\n"),
        "original_position": thread.hunk.count("\n"),
        "line": thread.line,
        "original_line": thread.line,
        "start_line": thread.start_line,
        "original_start_line": thread.start_line,
        "side": thread.side,
        "start_side": started,
        "subject_type": "line",
    }


def _user(world: World, login: str | None) -> Json | None:
    return None if login is None else user_json(world, world.user(login))


def _association(world: World, repo: str, login: str | None) -> str:
    return "NONE" if login is None else association(world, repo, login)


def _pull_url(world: World, repo: str, number: int) -> str:
    return f"{api_path(world, repo)}/pulls/{number}"
