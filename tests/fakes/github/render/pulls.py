"""Pull requests as GitHub's JSON shows them, read from git at that moment."""

from urllib.parse import quote

from tests.fakes.github import bare
from tests.fakes.github.comparison import (
    ChangedFile,
    changed_files,
    commits_between,
)
from tests.fakes.github.exchange import Json
from tests.fakes.github.mergeability import find_mergeable, mergeable_state
from tests.fakes.github.render.adornments import team_json
from tests.fakes.github.render.git_data import commit_json
from tests.fakes.github.render.issues import shared_json, thread_page
from tests.fakes.github.render.repositories import api_path, repository_json
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.rule_state import NOBODY_AWAITED
from tests.fakes.github.state import Issue, Pull, Repo, World


def base_sha(world: World, issue: Issue) -> str:
    """Return where the base branch stands; where the request began if it's gone."""
    repo = world.repo(issue.repo)
    branch = f"refs/heads/{_pull(issue).base_branch}"
    return bare.find_commit(repo.git, branch) or head_sha(world, issue)


def head_sha(world: World, issue: Issue) -> str:
    sha = bare.find_commit(world.repo(issue.repo).git, issue.head_ref)
    if sha is None:
        raise LookupError(f"{issue.head_ref} is gone")
    return sha


def pull_files(world: World, issue: Issue) -> list[ChangedFile]:
    folder = world.repo(issue.repo).git
    return changed_files(folder, base_sha(world, issue), issue.head_ref)


def pull_json(world: World, issue: Issue) -> Json:
    """Return the pull request whole, as its own address and webhooks show it."""
    files = pull_files(world, issue)
    commits = commits_between(
        world.repo(issue.repo).git, base_sha(world, issue), issue.head_ref
    )
    mergeable = find_mergeable(
        world, issue, base_sha(world, issue), head_sha(world, issue)
    )
    return {
        **pull_summary_json(world, issue),
        "merged": _pull(issue).merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": mergeable_state(
            draft=_pull(issue).draft, mergeable=mergeable
        ),
        "merged_by": _merged_by(world, _pull(issue)),
        "comments": len(world.comments_of(issue)),
        "review_comments": 0,
        "maintainer_can_modify": _pull(issue).maintainer_can_modify,
        "commits": len(commits),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }


def _merged_by(world: World, pull: Pull) -> Json | None:
    return user_json(world, world.user(pull.merged_by)) if pull.merged_by else None


def pull_summary_json(world: World, issue: Issue) -> Json:
    """Return what lists of pull requests show."""
    pull = _pull(issue)
    page = thread_page(world, issue)
    head = head_sha(world, issue)
    links = _links(world, issue, head)
    waits_for = world.awaited.get((issue.repo.lower(), issue.number), NOBODY_AWAITED)
    return {
        **shared_json(world, issue),
        **links,
        "id": pull.id,
        "node_id": f"PR_{pull.id}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": instant(pull.merged_at) if pull.merged_at else None,
        "merge_commit_sha": None,
        "requested_reviewers": [
            user_json(world, world.user(login)) for login in waits_for.people
        ],
        "requested_teams": [
            team_json(world, world.repo(issue.repo).owner, team)
            for team in waits_for.teams
        ],
        "draft": pull.draft,
        "auto_merge": None,
        "head": _end(world, world.repo(pull.head_repo), pull.head_branch, head),
        "base": _end(
            world, world.repo(issue.repo), pull.base_branch, base_sha(world, issue)
        ),
        "_links": _hypertext(links, page),
    }


def file_json(world: World, issue: Issue, file: ChangedFile, head: str) -> Json:
    repo = world.repo(issue.repo)
    page = f"{world.web_url}/{repo.full_name}"
    path = quote(file.path)
    where = f"{api_path(world, repo.full_name)}/contents/{path}?ref={head}"
    shown: Json = {
        "sha": None if file.status == "removed" else file.blob,
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "blob_url": f"{page}/blob/{head}/{path}",
        "raw_url": f"{page}/raw/{head}/{path}",
        "contents_url": where,
    }
    if file.patch is not None:
        shown["patch"] = file.patch
    if file.old_path is not None:
        shown["previous_filename"] = file.old_path
    return shown


def pull_commits_json(world: World, issue: Issue) -> list[Json]:
    repo = world.repo(issue.repo)
    commits = commits_between(repo.git, base_sha(world, issue), issue.head_ref)
    return [commit_json(world, repo, commit) for commit in commits]


def _pull(issue: Issue) -> Pull:
    if issue.pull is None:
        raise LookupError(f"{issue.repo}#{issue.number} is no pull request")
    return issue.pull


def _end(world: World, repo: Repo, branch: str, sha: str) -> Json:
    return {
        "label": f"{repo.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user_json(world, world.user(repo.owner)),
        "repo": repository_json(world, repo),
    }


def _links(world: World, issue: Issue, head: str) -> dict[str, str]:
    base = api_path(world, issue.repo)
    url = f"{base}/pulls/{issue.number}"
    return {
        "url": url,
        "issue_url": f"{base}/issues/{issue.number}",
        "comments_url": f"{base}/issues/{issue.number}/comments",
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{base}/pulls/comments{{/number}}",
        "statuses_url": f"{base}/statuses/{head}",
    }


def _hypertext(links: dict[str, str], page: str) -> Json:
    named = {
        "self": links["url"],
        "html": page,
        "issue": links["issue_url"],
        "comments": links["comments_url"],
        "review_comments": links["review_comments_url"],
        "review_comment": links["review_comment_url"],
        "commits": links["commits_url"],
        "statuses": links["statuses_url"],
    }
    return {name: {"href": href} for name, href in named.items()}
