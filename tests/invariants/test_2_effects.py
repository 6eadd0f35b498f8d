"""Invariant 2: killed between any two steps, a run shows everything once, in order."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchwright.core.settings.model import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.integrations.settings import load_settings
from patchwright.resolver.messages.status import UNFINISHED, mark
from patchwright.resolver.publish.effects import (
    Acknowledge,
    AskPrivately,
    AttachLink,
    BeginCheck,
    CrossPost,
    Effect,
    FinalMessage,
    MoveTicket,
    OpenPullRequest,
    Ping,
    ReportCheck,
    RunEffect,
    SetPullMetadata,
    SetStartLabels,
    ShowStatus,
    StartTicket,
    SwapLabels,
)
from patchwright.workers.compose import make_worker, open_service_parts
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.run_store import RunServices
from tests.adapters.store.world import ISSUE, World, trigger
from tests.fakes.clock import FakeClock
from tests.invariants.effect_world import CHAT, TICKET, EffectRun
from tests.invariants.mortal import Fate

WHILE_IT_WORKS: tuple[RunEffect, ...] = (
    Acknowledge(request=trigger().key),
    SetStartLabels(),
    StartTicket(thread=TICKET, status="In Progress"),
    ShowStatus(thread=ISSUE),
    ShowStatus(thread=TICKET),
    ShowStatus(thread=CHAT),
    BeginCheck(sha="a" * 40),
)
AT_ITS_END: tuple[Effect, ...] = (
    OpenPullRequest(branch="fix", base_branch="main", draft=False),
    SetPullMetadata(),
    MoveTicket(thread=TICKET, status="In Review", with_pull=False),
    ReportCheck(sha="a" * 40),
    SwapLabels(),
    FinalMessage(),
    CrossPost(thread=TICKET),
    CrossPost(thread=CHAT),
    Ping(),
    AttachLink(thread=TICKET),
    AskPrivately(text="Which one?"),
)
# What shows nothing by itself: it is about a pull request that there may not be.
ABOUT_A_PULL = ("adorn_pull_request", "attach_link")
# Points that a worker passes before it dies.
LIVES = st.lists(st.integers(1, 40) | st.integers(1, 12), max_size=8)


class Parts:
    """What runs need, composed as a service does it, and a database to be copied."""

    def __init__(self, services: RunServices, empty: Path) -> None:
        self.services, self.empty = services, empty


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    folder = tmp_path_factory.mktemp("effects")
    environment = {
        "PATCHWRIGHT_DATABASE__URL": f"sqlite:///{folder}/patchwright.db",
        "PATCHWRIGHT_SANDBOX__KIND": "local",
        "PATCHWRIGHT_GITHUB__API_URL": "http://127.0.0.1:9",
        "PATCHWRIGHT_GITHUB__WEB_URL": "http://127.0.0.1:9",
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "secret" * 4,
        "PATCHWRIGHT_GITHUB__TOKEN": "none",
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": "http://127.0.0.1:9",
        "LLM_API_KEY": "none",
    }
    read = load_settings(environment, flags={}, cwd=folder)
    redactor = Redactor(secret_values(read))
    empty = folder / "empty.db"
    with closing(Database(f"sqlite:///{empty}")) as database:
        upgrade(database)
    with open_service_parts(read, redactor, lambda _job: None) as opened:
        # Whose addresses nobody answers at: everything is replaced that is used.
        yield Parts(make_worker(opened)._services, empty)


@given(
    live=st.lists(st.sampled_from(WHILE_IT_WORKS), unique_by=repr, max_size=4),
    at_end=st.lists(st.sampled_from(AT_ITS_END), unique_by=repr, max_size=5),
    lives=LIVES,
)
@settings(max_examples=40, deadline=None)
def test_everything_is_shown_once_and_in_order_wherever_workers_die(
    parts: Parts,
    live: list[RunEffect],
    at_end: list[Effect],
    lives: list[int],
) -> None:
    with _fresh_world(parts.empty) as world:
        run = EffectRun(world, parts.services, live, at_end)
        is_done = False
        for dies_at in lives:
            is_done = is_done or run.work(Fate(dies_at))
        assert is_done or run.work(Fate(None))
        _hold(run, [*live, *at_end])


def test_a_worker_may_die_at_any_point(parts: Parts) -> None:
    live = (ShowStatus(thread=ISSUE), SetStartLabels(), ShowStatus(thread=CHAT))
    at_end = (
        OpenPullRequest(branch="fix", base_branch="main", draft=False),
        FinalMessage(),
        CrossPost(thread=CHAT),
        Ping(),
    )
    for dies_at in count(1):
        with _fresh_world(parts.empty) as world:
            run = EffectRun(world, parts.services, live, at_end)
            is_done = run.work(Fate(dies_at))
            assert is_done or run.work(Fate(None))
            _hold(run, [*live, *at_end])
        if is_done:
            break


def _hold(run: EffectRun, planned: list[Effect]) -> None:
    _nothing_is_lost(run, planned)
    _order_is_kept(run)
    _nothing_is_repeated(run)


@contextmanager
def _fresh_world(empty: Path) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        file = shutil.copy(empty, folder)
        clock = FakeClock()
        with closing(Database(f"sqlite:///{file}", clock=clock)) as database:
            yield World(database, clock)


def _nothing_is_lost(run: EffectRun, planned: list[Effect]) -> None:
    stored = run.stored()
    assert [one.effect for one in stored] == planned
    assert {one.state for one in stored} <= {EffectState.DONE}
    assert not any(one.error for one in stored)
    must_show = {s.key for s in stored if s.effect.kind not in ABOUT_A_PULL}
    assert must_show <= set(run.service.writes)
    last_words = {
        str(ISSUE): FinalMessage(),
        str(TICKET): CrossPost(thread=TICKET),
        str(CHAT): CrossPost(thread=CHAT),
    }
    for post in run.service.posts:
        if last_words[post.thread] in planned:
            assert UNFINISHED not in post.text


def _order_is_kept(run: EffectRun) -> None:
    keys = [one.key for one in run.stored()]
    places = [keys.index(key) for key in run.service.writes]
    assert places == sorted(places)


def _nothing_is_repeated(run: EffectRun) -> None:
    """Check that what can be found again is there once, the rest once a lost worker."""
    service = run.service
    status = [(p.thread, mark(run.job_id)) for p in service.posts]
    for thread, own in status:
        texts = [p.text for p in service.posts if p.thread == thread and own in p.text]
        assert len([one for one in texts if "patchwright:state" in one]) <= 1
        assert len([one for one in texts if "patchwright:ping" in one]) <= 1
    assert len(service.pulls) <= 1
    for key, times in Counter(service.writes).items():
        assert times <= 1 + service.deaths[key], key
