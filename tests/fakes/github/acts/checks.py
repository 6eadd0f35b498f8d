"""Checks: an App reports on a commit, and says later how it ended."""

from dataclasses import replace
from datetime import datetime

from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.exchange import Json, invalid
from tests.fakes.github.state import Repo, World

MAX_OUTPUT_CHARS = 65_535


def begin_check(world: World, repo: Repo, app_slug: str, wanted: Json) -> CheckRun:
    """Add a check run to a commit, as the fields of a request want it."""
    run = CheckRun(
        id=world.next_id(),
        repo=repo.full_name,
        head_sha=str(wanted["head_sha"]),
        name=str(wanted["name"]),
        app_slug=app_slug,
    )
    return change_check(world, run, wanted)


def change_check(world: World, run: CheckRun, wanted: Json) -> CheckRun:
    """Change what a request names; a conclusion ends the run."""
    output = wanted.get("output") or {}
    if len(output.get("summary", "")) > MAX_OUTPUT_CHARS:
        raise invalid("CheckRun", "invalid", field="summary")
    fields = {name: wanted[name] for name in _TEXTS if name in wanted}
    fields |= {name: output[name] for name in ("title", "summary") if name in output}
    fields |= {name: _instant(wanted[name]) for name in _MOMENTS if name in wanted}
    if "conclusion" in wanted:
        fields["status"] = "completed"
    changed = replace(run, **fields)
    if (changed.status == "completed") != (changed.conclusion is not None):
        raise invalid("CheckRun", "missing_field", field="conclusion")
    world.check_runs[changed.id] = changed
    return changed


def checks_on(world: World, full_name: str, sha: str) -> list[CheckRun]:
    """Return the check runs of a commit, oldest first."""
    with world.lock:
        return [
            run
            for run in world.check_runs.values()
            if (run.repo.lower(), run.head_sha) == (full_name.lower(), sha)
        ]


_TEXTS = ("status", "conclusion", "external_id", "details_url")
_MOMENTS = ("started_at", "completed_at")


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
