"""A forge that only the test knows takes a mention to a delivered change."""

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Permission
from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.http.signatures import sign_sha256
from patchwright.workers.compose import make_worker
from tests.fakes.github.bare import commit, create, git
from tests.fakes.llm.provider import FakeProvider
from tests.flow.clock import MovableClock
from tests.flow.second_forge import NAME, SECRET, SIGNATURE, Burrow
from tests.flow.serving import serving
from tests.flow.story import FILES, MODEL_KEY, fix_turns

WISH = "@patchwright please fix the sum, 3 pieces cost 450"


def test_a_second_forge_takes_a_mention_to_a_delivered_change(tmp_path: Path) -> None:
    clock = MovableClock()
    burrow = Burrow(_repository(tmp_path), {"alice": Permission.WRITE})
    with FakeProvider(fix_turns(), api_key=MODEL_KEY) as provider:
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(tmp_path / "state"),
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
            "LLM_API_KEY": MODEL_KEY,
        }
        served = serving(environment, tmp_path, clock, None, plugins=(burrow.plugin,))
        with served as (base, url):
            assert _mention(burrow, url, clock) == 202
            [job_id] = base.stores.jobs.take_unfinished(0.0)
            make_worker(base).run(job_id)
            job = base.stores.jobs.load(job_id)
            assert job is not None
            assert job.outcome is not None
            assert job.outcome.kind is OutcomeKind.RESOLVED
    [pull] = burrow.pulls.values()
    assert (pull.title, pull.base_branch) == ("Count every piece", "main")
    branch = f"refs/heads/{pull.head_branch}"
    assert b"p * n" in git(burrow.folder, "show", f"{branch}:cart.py")
    author = git(burrow.folder, "log", "-1", "--format=%an <%ae>", branch)
    assert author == b"patchwright <patchwright@burrow.test>\n"
    [(issue, status), *_] = burrow.posts
    assert issue == 1
    assert status.startswith("**Done, proven** · #2 · ")


def test_without_a_signature_nothing_is_taken(tmp_path: Path) -> None:
    clock = MovableClock()
    burrow = Burrow(_repository(tmp_path), {})
    environment = {"PATCHWRIGHT_STATE_DIR": str(tmp_path / "state")}
    served = serving(environment, tmp_path, clock, None, plugins=(burrow.plugin,))
    with served as (_, url):
        assert _mention(burrow, url, clock, secret="another") == 401


def _mention(
    burrow: Burrow, url: str, clock: MovableClock, *, secret: str = SECRET
) -> int:
    """Open an issue that mentions us, and deliver it; return the answer's status."""
    number = 1 + len(burrow.issues)
    at = clock.now().isoformat()
    issue = {"title": "Wrong sum", "body": WISH, "author": "alice", "at": at}
    body = json.dumps(issue)
    burrow.issues[number] = body
    headers = {
        SIGNATURE: sign_sha256(body.encode(), secret),
        "x-burrow-delivery": f"delivery-{number}",
        "x-burrow-issue": str(number),
    }
    address = url + WEBHOOK_ROUTE.format(service=NAME)
    return httpx.post(address, content=body, headers=headers).status_code


def _repository(folder: Path) -> Path:
    place = folder / "shop.git"
    create(place, "main")
    commit(
        place,
        "main",
        FILES,
        start="main",
        message="Begin",
        author="alice",
        at=datetime(2026, 1, 5, tzinfo=UTC),
    )
    return place
