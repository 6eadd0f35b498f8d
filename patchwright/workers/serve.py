"""The service's processes: web, worker and scheduler, together or separate."""

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from types import FrameType
from typing import Final, assert_never

import structlog

from patchwright.core.plugin import AppSetup, Plugin
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.system.clock import SystemClock, start_call
from patchwright.core.system.logs import log_strays, set_up_logging
from patchwright.core.system.signals import signal_handlers
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.core.webhook_address import describe_address_problem
from patchwright.integrations.registry import find_forge
from patchwright.integrations.settings import find_notices, service_errors
from patchwright.workers.agent_configuration import warm_up
from patchwright.workers.compose import (
    ServiceParts,
    health_checks_of,
    make_catch_up,
    make_reporter,
    make_worker,
    open_database,
    open_secrets,
    open_service_parts,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.greeter import Greeter, find_greeter
from patchwright.workers.inbox.missed_deliveries import CatchUp
from patchwright.workers.jobs.worker import JobWorker
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import HealthChecks, LoopActivity
from patchwright.workers.ops.lifecycle import ListenAddress, ProcessRole, listen
from patchwright.workers.ops.liveness import (
    LONGEST_EVERY_S,
    HeartbeatConfig,
    report_alive,
)
from patchwright.workers.ops.process_metrics import ProcessMetrics
from patchwright.workers.preflight import ModelReview, review_models
from patchwright.workers.queue.app import (
    CATCH_UP_EVERY_S,
    Queue,
    add_catch_up,
    add_tasks,
    broker_answers,
    make_celery,
    on_message_sent,
    on_message_taken,
    submitter,
)
from patchwright.workers.queue.celery_worker import (
    embedded_worker,
    run_beat,
    run_worker,
)
from patchwright.workers.queue.interface import repeat_in_background
from patchwright.workers.store.secrets import SecretStore, session_secret
from patchwright.workers.web.app_install import (
    make_first_admin_cookie,
    make_operator_cookie,
)
from patchwright.workers.web.server import make_server
from patchwright.workers.web.setup_access import (
    SetupLinks,
    SetupVisitors,
)
from patchwright.workers.web.setup_pages import SetupPages, serve_setup
from patchwright.workers.website import MakeWebHealth, make_website

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger(__name__)


class _Terminated(BaseException):
    """The process must end; only `until_terminated` may catch this."""


@contextmanager
def until_terminated() -> Iterator[None]:
    """Leave the block at SIGTERM or SIGINT, closing every context in it on the way.

    A signal that comes after the first one changes nothing any more.
    """
    termination = _Termination()
    try:
        with signal_handlers(
            dict.fromkeys(_SIGNALS, termination.begin), termination.repeat
        ):
            yield
    except _Terminated:
        log.info("stopped")


class _Termination:
    """Raises `_Terminated` until the block is on its way out."""

    def __init__(self) -> None:
        self._has_begun = False

    def begin(self, _number: int, _frame: FrameType | None) -> None:
        self._has_begun = True
        self.repeat()

    def repeat(self) -> None:
        """Raise once more what a destructor has swallowed."""
        if self._has_begun and not _is_raised(sys.exception()):
            raise _Terminated


def _is_raised(error: BaseException | None) -> bool:
    """Tell whether an error is the end, or has come up on the way there."""
    while error is not None:
        if isinstance(error, _Terminated):
            return True
        error = error.__context__
    return False


_OTHER_PORT: Final = "choose another with --port or PATCHWRIGHT_SERVER__PORT"


@dataclass(frozen=True)
class _WorkerParts:
    """What works in a process that runs jobs; `taken` moves with each message."""

    runner: JobWorker
    catch_up: CatchUp
    taken: LoopActivity
    parallel: int

    def is_busy(self) -> bool:
        return self.runner.load >= self.parallel


def serve(settings: Settings, role: ProcessRole) -> int:
    """Run until SIGTERM or SIGINT; return the process's exit code.

    Raises `SettingsError` when the settings do not allow for this role, and other
    errors of ours when something it cannot do without is missing.
    """
    problems = [*service_errors(settings), *_broker_errors(settings, role)]
    calls_models = role in (ProcessRole.ALL, ProcessRole.WORKER) and not problems
    models = review_models(settings) if calls_models else ModelReview()
    if problems := [*problems, *models.errors]:
        raise SettingsError("\n".join(problems))
    _log_without_secrets(settings, role)
    log_strays()
    for line in (*models.unreachable, *models.warnings):
        log.warning("model_doubtful", problem=line)
    broker_url = settings.queue.broker_url.get_secret_value()
    queue = make_celery(broker_url, settings.queue.sweep_seconds)
    log.info("starting", role=role)
    greeter = find_greeter(logs_json=settings.log_json)
    for notice in find_notices(settings):
        log.warning("settings_notice", found=notice.text, fix=notice.fix)
    with until_terminated():
        return _run(settings, role, queue, greeter)
    return 0


def _run(
    settings: Settings, role: ProcessRole, queue: Queue, greeter: Greeter | None
) -> int:
    match role:
        case ProcessRole.SCHEDULER:
            return _serve_scheduler(settings, queue)
        case ProcessRole.WORKER:
            warm_up(settings)
            with _open(with_app(settings), queue, role) as base:
                return _serve_jobs(base, queue)
        case ProcessRole.WEB:
            with (
                _listen(settings) as server_socket,
                _open(with_app(settings, server_socket, greeter), queue, role) as base,
            ):
                checks = health_checks_of(base)
                return _serve_web(base, server_socket, checks.web, role, greeter)
        case ProcessRole.ALL:
            with (
                _listen(settings) as server_socket,
                _open(with_app(settings, server_socket, greeter), queue, role) as base,
                _run_jobs_in_background(base, queue) as judge,
            ):
                return _serve_web(base, server_socket, judge, role, greeter)
        case _:
            assert_never(role)


@contextmanager
def _open(
    settings: Settings, queue: Queue, role: ProcessRole
) -> Iterator[ServiceParts]:
    # Again, because the new App has its own secrets.
    redactor = _log_without_secrets(settings, role)
    with open_service_parts(settings, redactor, submitter(queue)) as base:
        yield base


def _log_without_secrets(settings: Settings, role: ProcessRole) -> Redactor:
    redactor = Redactor(secret_values(settings))
    about = {"version": version("patchwright"), "role": role}
    set_up_logging(redactor.redact_json, as_json=settings.log_json, about=about)
    return redactor


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else is started."""
    server = settings.server
    server_socket = listen(
        ListenAddress("server", server.host, server.port, _OTHER_PORT)
    )
    log.info("listening", host=server.host, port=server_socket.getsockname()[1])
    return server_socket


def _serve_web(
    base: ServiceParts,
    server_socket: socket.socket,
    judge: MakeWebHealth,
    role: ProcessRole,
    greeter: Greeter | None,
) -> int:
    address, mention = base.settings.server, base.directory.forge.mention
    if greeter is None:
        site = make_website(base, judge, role)
    else:
        tell = partial(greeter.tell_installed, mention=mention)
        site = make_website(base, judge, role, tell)
        greeter.tell_ready(
            _base_url(base.settings, server_socket), mention, has_form=site.has_form
        )
    server = make_server(
        site.app, address.host, address.port, proxies=address.trusted_proxies
    )
    with report_alive(_post(base.settings, base.database, site.reporter)):
        server.run(sockets=[server_socket])
    return 0


def _serve_jobs(base: ServiceParts, queue: Queue) -> int:
    crew = _make_worker_parts(base, queue)
    start_call(crew.catch_up)
    health = health_checks_of(base).worker(
        crew.taken, partial(broker_answers, queue), crew.is_busy
    )
    reporter = make_reporter(base, ProcessRole.WORKER, health)
    with report_alive(_post(base.settings, base.database, reporter)):
        return run_worker(queue, crew.runner, crew.parallel)


def _serve_scheduler(settings: Settings, queue: Queue) -> int:
    clock = SystemClock()
    sent = LoopActivity(clock)
    on_message_sent(sent.touch)
    # It needs no database but to say that it lives, and does not wait for one.
    with closing(Database(settings.database.url.get_secret_value())) as database:
        health_checks = HealthChecks(database, clock, settings.queue.sweep_seconds)
        reporter = Reporter(
            role=ProcessRole.SCHEDULER,
            health=health_checks.scheduler(sent, partial(broker_answers, queue)),
            clock=clock,
            show=ProcessMetrics().show,
            token=settings.telemetry.metrics_token,
        )
        with report_alive(_post(settings, database, reporter)):
            run_beat(queue)
    return 0


def _post(
    settings: Settings, database: Database, reporter: Reporter
) -> HeartbeatConfig:
    every_s = min(settings.queue.sweep_seconds, LONGEST_EVERY_S)
    return HeartbeatConfig(reporter, database, settings.telemetry, every_s)


@contextmanager
def _run_jobs_in_background(
    base: ServiceParts, queue: Queue
) -> Iterator[MakeWebHealth]:
    """Run jobs in this process; yields the health checks for it and its web part."""
    crew, sweep_s = _make_worker_parts(base, queue), base.settings.queue.sweep_seconds
    with (
        embedded_worker(queue, crew.runner, crew.parallel, sweep_s),
        repeat_in_background(crew.catch_up, CATCH_UP_EVERY_S),
    ):
        yield partial(
            health_checks_of(base).all,
            taken=crew.taken,
            broker_answers=partial(broker_answers, queue),
            is_busy=crew.is_busy,
        )


def _make_worker_parts(base: ServiceParts, queue: Queue) -> _WorkerParts:
    """Put them to the queue, which hands them messages once it is run."""
    runner, catch_up, taken = (
        make_worker(base),
        make_catch_up(base),
        LoopActivity(base.clock),
    )
    add_tasks(queue, runner)
    add_catch_up(queue, catch_up)
    on_message_taken(taken.touch)
    return _WorkerParts(runner, catch_up, taken, base.settings.limits.max_parallel)


def _broker_errors(settings: Settings, role: ProcessRole) -> Iterator[str]:
    if role is not ProcessRole.ALL and settings.queue.is_in_memory:
        yield (
            f"queue.broker_url: a {role} process needs a broker that all processes "
            "share: set PATCHWRIGHT_QUEUE__BROKER_URL to redis://HOST"
        )


def with_app(
    settings: Settings,
    server_socket: socket.socket | None = None,
    greeter: Greeter | None = None,
) -> Settings:
    """Complete the settings with the app that was made for us at the forge.

    What is configured wins over what is stored. Where no app was made yet, somebody can
    make one: set-up pages are served from the socket, which stays open. Without it,
    that is a `SettingsError`.
    """
    plugin, clock = find_forge(settings), SystemClock()
    with closing(open_database(settings)) as database:
        upgrade(database)
        secrets = open_secrets(settings, database, clock)
        found = settings
        if not plugin.describe(settings).is_configured and plugin.make_setup:
            setup = plugin.make_setup(settings, secrets, clock)
            if server_socket is not None and setup.fetch_settings() is None:
                secret = session_secret(settings, database)
                site = _setup_site(settings, setup, secrets, secret, server_socket)
                _wait_for_new_app(site, server_socket, greeter)
            found = _with_stored_app(plugin, setup)
        complete = plugin.complete_settings
        return complete(found, secrets, clock) if complete else found


def _with_stored_app(plugin: Plugin, setup: AppSetup) -> Settings:
    found = setup.fetch_settings()
    if found is None:
        raise SettingsError(
            f"{plugin.name}: not configured, and there is no App yet; create one with "
            "the link that the web process shows or `patchwright setup-link` prints, "
            f"or set {setup.alternative}; then start again"
        )
    return found


def _setup_site(
    settings: Settings,
    setup: AppSetup,
    secrets: SecretStore,
    secret: bytes | None,
    server_socket: socket.socket,
) -> SetupPages:
    service, clock = find_forge(settings).describe(settings), SystemClock()
    links = SetupLinks(secrets, service.name, clock)
    return SetupPages(
        service=service,
        public_url=settings.server.public_url,
        port=server_socket.getsockname()[1],
        visitors=SetupVisitors(settings.security.admin_token, links, clock),
        setup=setup,
        operator=make_operator_cookie(service.name, settings, secret, clock),
        first_admin=make_first_admin_cookie(settings, secret, clock),
    )


def _wait_for_new_app(
    site: SetupPages, server_socket: socket.socket, greeter: Greeter | None
) -> None:
    """Serve the set-up pages until there is an app."""
    problem = site.address_problem
    if problem is None:
        _show_link(site.link(), site, greeter)
    elif greeter is not None:
        greeter.refuse_setup(site, problem)
    else:
        log.warning(
            "setup_needed",
            problem=describe_address_problem(problem, site.public_url),
            fix="set PATCHWRIGHT_SERVER__PUBLIC_URL to an address that "
            f"{site.service.title} reaches, and start again",
        )
    app = serve_setup(site, server_socket)
    if app is not None and greeter is not None:
        greeter.tell_registered(site.service.title, app)


def _show_link(link: str, site: SetupPages, greeter: Greeter | None) -> None:
    if greeter is None:
        log.warning("setup_needed", url=link)
    else:
        greeter.offer_setup(site, link)


def _base_url(settings: Settings, server_socket: socket.socket) -> str:
    """Return where people find the service, as far as it knows."""
    host, port = server_socket.getsockname()[:2]
    return settings.server.public_url or f"http://{host}:{port}"
