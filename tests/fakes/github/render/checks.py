"""Check runs as GitHub's JSON shows them."""

from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.apps import maker_json
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.render.users import instant
from tests.fakes.github.state import World


def check_run_json(world: World, run: CheckRun) -> Json:
    url = f"{api_path(world, run.repo)}/check-runs/{run.id}"
    page = f"{world.web_url}/{run.repo}/runs/{run.id}"
    return {
        "id": run.id,
        "node_id": f"CR_{run.id}",
        "head_sha": run.head_sha,
        "name": run.name,
        "url": url,
        "html_url": page,
        "details_url": run.details_url or page,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": None if run.started_at is None else instant(run.started_at),
        "completed_at": None if run.completed_at is None else instant(run.completed_at),
        "external_id": run.external_id,
        "check_suite": {"id": run.id + 1_000_000},
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": None,
            "annotations_count": len(world.builds.annotations.get(run.id, ())),
            "annotations_url": f"{url}/annotations",
        },
        "app": maker_json(world, run.app_slug),
        "pull_requests": [],
    }
