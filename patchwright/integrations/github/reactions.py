"""React to what somebody wrote."""

from github.Repository import Repository

from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.integrations.github.discussions import add_discussion_reaction as react_in_discussion
from patchwright.integrations.github.post_ids import review_comment_of, review_of


def react(repo: Repository, thread: ForgeThread, post_id: str, reaction: str) -> None:
    """React to what asked: the comment, or the thread's opening text.

    REST knows no reactions to a review; they go to its pull request. Raises the errors
    of PyGithub.
    https://docs.github.com/en/rest/reactions/reactions
    """
    if thread.kind is ThreadKind.DISCUSSION:
        react_in_discussion(repo, thread, post_id, reaction)
    elif (comment := review_comment_of(post_id)) is not None:
        pull = repo.get_pull(thread.number)
        pull.get_review_comment(comment).create_reaction(reaction)
    elif post_id and review_of(post_id) is None:
        issue = repo.get_issue(thread.number)
        issue.get_comment(int(post_id)).create_reaction(reaction)
    else:
        repo.get_issue(thread.number).create_reaction(reaction)
