"""Whatever anybody sends, the API answers as its document says, and never fails.

Schemathesis makes the requests from the document.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from patchwright.workers.api.streams import EVENT_STREAM
from patchwright.workers.db.database import Database
from tests.adapters.api.serving import ADMIN, READER, WRITER, ApiSite, serving_api
from tests.adapters.web.watching import begin_run
from tests.schema import add_sqlite_file

pytestmark = pytest.mark.long

load_all_checks()
# What else it checks takes more from the API than the document says: that what does
# not count is refused, and that what fits is always accepted.
OURS: list[Any] = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]
# For each operation, and each kind of data: what fits the document, and what does not.
EXAMPLES = 6


@pytest.fixture
def any_site(tmp_path: Path) -> Iterator[ApiSite]:
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    with (
        closing(Database(f"sqlite:///{file}")) as database,
        serving_api(database, tmp_path, requests_per_minute=0) as site,
    ):
        yield site


@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_makes_it_fail(any_site: ApiSite, mode: GenerationMode) -> None:
    job_id, _ = begin_run(any_site.world)
    there = [any_site.conversation(job_id), job_id]
    document = schemathesis.openapi.from_url(f"{any_site.url}/openapi.json")
    # A stream goes on for as long as the run does: it has tests of its own.
    wanted = document.exclude(path=EVENT_STREAM)
    asked = []
    for found in wanted.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        asked.append(operation.label)

        @given(
            case=operation.as_strategy(generation_mode=mode),
            token=st.sampled_from([ADMIN, WRITER, READER]),
            instead=st.sampled_from([*there, ""]),
        )
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        def send(case: schemathesis.Case[Any], token: str, instead: str) -> None:
            if instead and "id" in case.path_parameters:
                case.path_parameters["id"] = instead
            case.call_and_validate(
                headers={"Authorization": f"Bearer {token}"},
                checks=OURS,
            )

        send()
    assert len(asked) == 26
