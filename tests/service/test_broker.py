"""A broker that is away when the service starts."""

from pathlib import Path

import pytest

from tests.flow.story import fix_turns
from tests.provision.redis_server import redis_server
from tests.provision.servers import free_port
from tests.service.stage import staged

PROMPT_S = 8.0


@pytest.mark.long
def test_deliveries_are_stored_without_a_broker_and_worked_on_when_it_is_back(
    tmp_path: Path,
) -> None:
    port = free_port()
    broker = {"PATCHWRIGHT_QUEUE__BROKER_URL": f"redis://127.0.0.1:{port}/0"}
    with (
        staged(tmp_path, fix_turns(), broker) as stage,
        stage.serving("all") as service,
    ):
        service.wait_until_ready()
        number = stage.ask(service)
        stage.wait(lambda: service.has_said("job_not_dispatched"), "the dead broker")
        with redis_server(port):
            assert not stage.finish(number).draft
        # It is gone once more, and must not keep the service from ending.
        assert service.stop() < PROMPT_S
