"""Health, metrics and logs of real processes: what an operator sees of them."""

import base64
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests.fakes.llm.turns import hang
from tests.flow.story import MODEL_KEY, WEBHOOK_SECRET, fix_turns
from tests.provision.postgres_server import SUPERUSER, PostgresServer
from tests.provision.redis_server import redis_server
from tests.provision.servers import free_port
from tests.service.processes import ServiceProcess
from tests.service.stage import SHORT_LEASE, Stage, staged
from tests.service.telemetry import ON, fetch, fetch_at, figures, red

TOKEN = "a-token-for-the-metrics"
KEYS = f"k1:{base64.b64encode(bytes(range(32))).decode()}"
RESOLVED = "{outcome=resolved,proof=proven,service=github,trigger=comment-mention}"
# 1.5 dollars for a million tokens.
PRICES = {
    "LLM_INPUT_COST_PER_TOKEN": "0.0000015",
    "LLM_OUTPUT_COST_PER_TOKEN": "0.0000015",
}


def test_after_a_run_the_figures_have_its_end_its_cost_and_no_secret(
    tmp_path: Path,
) -> None:
    prices = {f"PATCHWRIGHT_LLM__{k[4:]}": v for k, v in PRICES.items()}
    with (
        staged(tmp_path, fix_turns(), ON | prices) as stage,
        stage.serving("all") as service,
    ):
        service.wait_until_ready()
        assert red(service) == []
        stage.finish(stage.ask(service))
        stage.wait(lambda: service.has_said("job_finished"), "the end")
        status, text = fetch(service, "/metrics")
        assert status == 200
        seen = figures(text)
    asked = RESOLVED.replace("comment-mention", "body-mention")
    assert seen[f"patchwright_runs_total{asked}"] == 1
    assert seen["patchwright_spent_usd_total"] > 0
    assert seen["patchwright_reserved_today_usd"] == 0
    assert seen["patchwright_tokens_total{direction=in}"] > 0
    assert seen["patchwright_run_duration_seconds_count{outcome=resolved}"] == 1
    assert seen["patchwright_run_wait_seconds_count"] == 1
    assert seen["patchwright_effects_pending"] == 0
    taken = "{service=github,verdict=accepted}"
    assert seen[f"patchwright_deliveries_total{taken}"] == 1
    calls = "{model=openai/scripted,outcome=ok}"
    assert seen[f"patchwright_model_calls_total{calls}"] == len(fix_turns())
    starts = [one for one in seen if one.startswith("patchwright_sandbox_starts_total")]
    assert [one.endswith("outcome=ok}") for one in starts] == [True]
    route = "/api/integration/{service}/events"
    posted = f"{{method=POST,route={route},status=202}}"
    assert seen[f"patchwright_http_requests_total{posted}"] == 1
    assert [one for one in _secrets(stage) if one in text] == []


def test_where_the_public_comes_the_figures_need_their_token(tmp_path: Path) -> None:
    with staged(tmp_path, []) as stage:
        with stage.serving("all") as service:
            service.wait_until_ready()
            assert fetch_at(_address(service), "/metrics")[0] == 403
        token = {"PATCHWRIGHT_TELEMETRY__METRICS_TOKEN": TOKEN}
        with stage.serving("all", **token, **ON) as service:
            service.wait_until_ready()
            assert fetch_at(_address(service), "/metrics")[0] == 401
            assert fetch(service, "/metrics")[0] == 401
            assert TOKEN not in service.log.read_text()


@pytest.fixture
def broker_port() -> int:
    return free_port()


@pytest.fixture
def shared(postgres_url: str, broker_port: int) -> dict[str, str]:
    """Return the settings of processes of their own, which are looked at."""
    return {
        "PATCHWRIGHT_DATABASE__URL": postgres_url,
        "PATCHWRIGHT_QUEUE__BROKER_URL": f"redis://127.0.0.1:{broker_port}/0",
        "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": KEYS,
        **ON,
        **SHORT_LEASE,
    }


@pytest.mark.long
def test_one_mention_is_followed_by_its_ids_through_web_and_worker(
    tmp_path: Path, shared: dict[str, str], broker_port: int
) -> None:
    with (
        redis_server(broker_port),
        staged(tmp_path, fix_turns(), shared) as stage,
        stage.serving("web") as web,
        stage.serving("worker") as worker,
    ):
        web.wait_until_ready()
        number = stage.ask(web)
        delivery_id = stage.github.deliveries[-1].headers["X-GitHub-Delivery"]
        stage.finish(number)
        stage.wait(lambda: worker.has_said("job_finished"), "the end")
        [stored] = [
            line for line in web.lines() if line["message"] == "delivery_stored"
        ]
        [request] = [
            line
            for line in web.lines()
            if line["message"] == "request" and line["method"] == "POST"
        ]
        ids = {"delivery_id", "job_id", "conversation_id"}
        assert stored["delivery_id"] == delivery_id
        assert {name: request[name] for name in ids} == {n: stored[n] for n in ids}
        assert (request["status"], request["role"]) == (202, "web")
        about = [line for line in worker.lines() if "job_id" in line]
        assert about
        assert all(
            {n: line[n] for n in ids} == {n: stored[n] for n in ids} for line in about
        )
        ended = next(line for line in about if line["message"] == "job_finished")
        assert (ended["role"], bool(ended["user_id"])) == ("worker", True)
        text = web.log.read_text() + worker.log.read_text()
        assert [one for one in _secrets(stage) if one in text] == []


@pytest.mark.long
def test_a_broker_that_is_gone_turns_worker_and_beat_red_until_it_is_back(
    tmp_path: Path, shared: dict[str, str], broker_port: int
) -> None:
    with (
        ExitStack() as broker,
        staged(tmp_path, [], shared) as stage,
    ):
        broker.enter_context(redis_server(broker_port))
        with _all_three(stage) as (web, worker, beat):
            broker.close()
            stage.wait(lambda: red(worker) == ["broker", "sweeps"], "a red worker")
            stage.wait(lambda: red(beat) == ["broker", "ticks"], "a red beat")
            stage.wait(lambda: worker.has_said("not_ready"), "a line about it")
            # None of them would be helped by a new start.
            for one in (web, worker, beat):
                assert fetch(one, "/healthz")[0] == 200
            own = version("patchwright")
            shown = f"patchwright_processes{{ready=no,role=worker,version={own}}}"
            stage.wait(lambda: shown in figures(fetch(web, "/metrics")[1]), "a figure")
            with redis_server(broker_port):
                stage.wait(lambda: red(worker) == [], "a green worker")
                stage.wait(lambda: red(beat) == [], "a green beat")


@pytest.mark.long
def test_jobs_that_no_worker_takes_turn_the_web_side_red_until_one_does(
    tmp_path: Path, shared: dict[str, str], broker_port: int
) -> None:
    turns = [hang(), *fix_turns()]
    with (
        redis_server(broker_port),
        staged(tmp_path, turns, shared) as stage,
        _all_three(stage) as (web, worker, _),
    ):
        number = stage.ask(web)
        stage.models_turn(1)
        assert red(web) == []
        worker.kill()
        stage.wait(lambda: red(web) == ["workers"], "a red web side")
        with stage.serving("worker") as another:
            stage.wait(lambda: red(web) == [], "a green web side")
            stage.finish(number)
            stage.wait(lambda: another.has_said("job_finished"), "the end")
        stage.wait(lambda: not _present(web, "worker"), "the end of both workers")


@pytest.mark.long
def test_a_database_that_is_gone_turns_web_and_worker_red_until_it_is_back(
    tmp_path: Path,
    shared: dict[str, str],
    broker_port: int,
    postgres: PostgresServer,
) -> None:
    with (
        redis_server(broker_port),
        staged(tmp_path, [], shared) as stage,
        _all_three(stage) as (web, worker, _),
    ):
        with _closed(postgres, shared["PATCHWRIGHT_DATABASE__URL"]):
            stage.wait(lambda: "database" in red(web), "a red web side")
            stage.wait(lambda: "database" in red(worker), "a red worker")
            assert fetch(worker, "/healthz")[0] == 200
            gone = "patchwright_database_up 0.0"
            stage.wait(lambda: gone in fetch(web, "/metrics")[1], "no figures")
        stage.wait(lambda: red(web) == [], "a green web side")
        stage.wait(lambda: red(worker) == [], "a green worker")


@contextmanager
def _all_three(
    stage: Stage,
) -> Iterator[tuple[ServiceProcess, ServiceProcess, ServiceProcess]]:
    """Run web, worker and beat; all of them work."""
    with (
        stage.serving("web") as web,
        stage.serving("worker") as worker,
        stage.serving("scheduler") as beat,
    ):
        web.wait_until_ready()
        for one in (web, worker, beat):
            assert fetch(one, "/healthz")[0] == 200
            assert red(one) == []
        alive = ("web", "worker", "scheduler")
        stage.wait(lambda: all(_present(web, role) for role in alive), "all three")
        yield web, worker, beat


def _present(web: ServiceProcess, role: str) -> bool:
    return len(_processes(fetch(web, "/metrics")[1], role)) == 1


def _processes(text: str, role: str) -> list[str]:
    wanted = f"role={role},"
    named = (
        name for name in figures(text) if name.startswith("patchwright_processes{")
    )
    return [name for name in named if wanted in name]


@contextmanager
def _closed(postgres: PostgresServer, url: str) -> Iterator[None]:
    """Let nobody into a database, not even those who are in it."""
    name = make_url(url).database
    address = f"postgresql://{SUPERUSER}@127.0.0.1:{postgres.port}/postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        allow = "UPDATE pg_database SET datallowconn = %s WHERE datname = %s"
        connection.execute(allow, (False, name))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (name,),
        )
        try:
            yield
        finally:
            connection.execute(allow, (True, name))


def _address(service: ServiceProcess) -> str:
    return service.url.removeprefix("http://")


def _secrets(stage: Stage) -> list[str]:
    key = stage.environment["PATCHWRIGHT_GITHUB__PRIVATE_KEY"]
    return [MODEL_KEY, WEBHOOK_SECRET, KEYS, *key.splitlines()[1:-1], "ghs_"]
