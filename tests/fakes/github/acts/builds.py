"""Builds: jobs of GitHub Actions, checks of other Apps, and plain statuses."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.fakes.github import bare
from tests.fakes.github.acts.accounts import add_app
from tests.fakes.github.acts.checks import begin_check, change_check
from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.ci_state import Annotation, Status
from tests.fakes.github.exchange import RefusedError, invalid
from tests.fakes.github.state import World
from tests.fakes.github.webhooks.check_suites import ACTIONS_SLUG
from tests.fakes.github.webhooks.statuses import StatusSet, send_status

# https://api.github.com/apps/github-actions
ACTIONS_APP = 15368
STATES = {"error", "failure", "pending", "success"}


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a check ended; without a conclusion it still runs."""

    name: str
    conclusion: str | None = "failure"
    title: str = ""
    summary: str = ""


def run_job(
    world: World, full_name: str, sha: str, report: Report, log: str | None = None
) -> CheckRun:
    """Run a job of GitHub Actions; its check run and the job share their id."""
    with world.lock:
        run = _begin(world, full_name, sha, ACTIONS_SLUG, report)
        page = f"{world.web_url}/{full_name}/actions/runs/{run.id + 1}/job/{run.id}"
        if log is not None:
            world.builds.logs[run.id] = log
        return change_check(world, run, {"details_url": page})


def run_check(
    world: World,
    full_name: str,
    sha: str,
    report: Report,
    *,
    app_slug: str,
    annotations: Sequence[Annotation] = (),
) -> CheckRun:
    """Report a check of another App."""
    with world.lock:
        run = _begin(world, full_name, sha, app_slug, report)
        world.builds.annotations[run.id] = tuple(annotations)
        return run


def set_status(
    world: World, full_name: str, sha: str, context: str, *, state: str, text: str = ""
) -> None:
    """Set a status, as the first person there is, and tell who hears of it.

    https://docs.github.com/rest/commits/statuses#create-a-commit-status
    """
    with world.lock:
        repo = world.repo(full_name)
        if state not in STATES:
            raise invalid("Status", "custom", field="state")
        if bare.find_commit(repo.git, sha) != sha:
            raise RefusedError(422, f"No commit found for SHA: {sha}")
        status = Status(
            id=world.next_id(),
            repo=repo.full_name,
            sha=sha,
            context=context,
            state=state,
            description=text,
            created_at=world.clock.now(),
        )
        world.builds.statuses.append(status)
        actor = next(iter(world.users.values())).login
        send_status(world, StatusSet(status=status, actor=actor))


def _begin(
    world: World, full_name: str, sha: str, app_slug: str, report: Report
) -> CheckRun:
    if not any(app.slug == app_slug for app in world.apps.values()):
        is_actions = app_slug == ACTIONS_SLUG
        number = ACTIONS_APP if is_actions else world.next_id()
        add_app(world, number, app_slug, "", None)
    output = {"title": report.title, "summary": report.summary}
    wanted = {"head_sha": sha, "name": report.name, "output": output}
    ended = {} if report.conclusion is None else {"conclusion": report.conclusion}
    return begin_check(world, world.repo(full_name), app_slug, {**wanted, **ended})
