"""Invariant 5: no form of a secret in database, files of events or log lines."""

import base64
import io
import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from urllib.parse import quote, quote_plus

import structlog
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)
from pydantic import JsonValue
from sqlalchemy import text

from patchwright.core.events.actions import CallMcpTool, Message
from patchwright.core.events.jsonl import JsonlEventLog, export_log, import_log
from patchwright.core.events.observations import CommandOutput, ModelReply
from patchwright.core.events.payload import Source, ToolCall
from patchwright.core.events.types import Known
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import RedactedStream, Redactor
from patchwright.workers.db.database import Database
from tests.fakes.clock import FakeClock
from tests.invariants.log_world import LogWorld

# No text of ours begins like this, so that what is found is the secret.
SECRETS = st.builds(
    "kZ7{}Wq9".format, st.text(" ab+/=&%\"'\\<ä∂\n-_", min_size=2, max_size=16)
)
FORMS: Mapping[str, Callable[[str], str]] = {
    "raw": str,
    "json": lambda secret: json.dumps(secret)[1:-1],
    "json, not ascii": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "json in json": lambda secret: json.dumps(json.dumps(secret))[1:-1],
    "hex": lambda secret: secret.encode().hex(),
    "upper hex": lambda secret: secret.encode().hex().upper(),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64, one on": lambda secret: base64.b64encode(b"x" + secret.encode()).decode(),
    "base64, two on": lambda secret: base64.b64encode(b"xy" + secret.encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(
        secret.encode()
    ).decode(),
    "quoted": lambda secret: quote(secret, safe=""),
    "quoted for forms": quote_plus,
}
NAMES = st.sampled_from(sorted(FORMS))
WORDS = st.text("ab \n", max_size=6)


@st.composite
def shapes(draw: st.DrawFn) -> Callable[[str], JsonValue]:
    """Make up where in a tree a text stands: as a leaf, a key, both, and how deep."""
    tree = draw(
        st.recursive(
            st.just(0),
            lambda inner: (
                st.lists(inner, min_size=1, max_size=3)
                | st.dictionaries(WORDS, inner, min_size=1, max_size=2)
            ),
            max_leaves=6,
        )
    )
    as_key = draw(st.booleans())
    return lambda filling: {"top": _filled(tree, filling, as_key=as_key)}


def _filled(tree: object, filling: str, *, as_key: bool) -> JsonValue:
    if isinstance(tree, list):
        return [_filled(one, filling, as_key=as_key) for one in tree]
    if isinstance(tree, dict):
        return {
            key + filling * as_key: _filled(one, filling, as_key=as_key)
            for key, one in tree.items()
        }
    return filling


def _core(name: str, form: str) -> str:
    """Leave off the digits at both ends that stand for neighbours too, and may stay."""
    return form[4:-4] if name.startswith("base64") else form


class Leaks(RuleBasedStateMachine):
    """Secrets are written wherever one can write; then everything is searched."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.database = database
        self.folder = tempfile.TemporaryDirectory()

    @initialize(secrets=st.lists(SECRETS, min_size=1, max_size=3))
    def begin(self, secrets: list[str]) -> None:
        self.secrets = secrets
        self.redactor = Redactor(secrets)
        self.world = LogWorld(self.database, self.redactor.redact_json)
        self.log = self.world.open_log()
        self.path = Path(self.folder.name, "log.jsonl")
        self.file = JsonlEventLog(self.path, self.redactor.redact_json, FakeClock())
        self.shown: list[str] = []
        self.lines = io.StringIO()
        self.logging = _logging_to(self.lines, self.redactor)
        self.logging.__enter__()

    def form(self, number: int, name: str) -> str:
        return FORMS[name](self.secrets[number % len(self.secrets)])

    def append(self, payload: Known) -> None:
        for log in (self.log, self.file):
            log.append(Source.AGENT, payload)

    @rule(number=st.integers(0, 2), name=NAMES, shape=shapes())
    def a_tool_is_called_with_it(
        self, number: int, name: str, shape: Callable[[str], JsonValue]
    ) -> None:
        arguments = shape(self.form(number, name))
        assert isinstance(arguments, dict)
        self.append(CallMcpTool(server="s", tool="t", arguments=arguments))
        call = ToolCall(id="c", name="t", arguments=json.dumps(arguments))
        self.append(ModelReply(text="", tool_calls=(call,), reasoning=(arguments,)))
        structlog.get_logger("patchwright.test").warning("called", tree=arguments)

    @rule(number=st.integers(0, 2), name=NAMES, before=WORDS, after=WORDS)
    def it_is_said(self, number: int, name: str, before: str, after: str) -> None:
        words = f"{before}{self.form(number, name)}{after}"
        self.append(Message(text=words))
        self.append(CommandOutput(exit_code=0, output=words, cwd=words))
        structlog.get_logger("patchwright.test").warning("said", words=words)
        logging.getLogger("another").warning(words)

    @rule(number=st.integers(0, 2), name=NAMES, size=st.integers(1, 9))
    def it_is_shown_in_pieces(self, number: int, name: str, size: int) -> None:
        words = f"a {self.form(number, name)} b"
        stream = RedactedStream(self.redactor)
        chunks = [words[at : at + size] for at in range(0, len(words), size)]
        self.shown.append("".join([*map(stream.feed, chunks), stream.close()]))

    @rule(number=st.integers(0, 2), name=NAMES)
    def it_is_raised(self, number: int, name: str) -> None:
        error = RuntimeError(self.form(number, name))
        structlog.get_logger("patchwright.test").error("failed", exc_info=error)

    def teardown(self) -> None:
        try:
            if hasattr(self, "log"):
                self.nothing_is_found()
        finally:
            self.close()

    def nothing_is_found(self) -> None:
        found = [
            (place, name)
            for secret in self.secrets
            for name, form in FORMS.items()
            for place, content in self.places()
            if _core(name, form(secret)).encode() in content
        ]
        assert found == []

    def places(self) -> Iterator[tuple[str, bytes]]:
        yield "file", self.path.read_bytes()
        yield "lines", self.lines.getvalue().encode()
        yield "shown", "\n".join(self.shown).encode()
        if self.database.is_sqlite:
            name = self.database.engine.url.database or ""
            yield from ((end, Path(name + end).read_bytes()) for end in ("", "-wal"))
        with self.database.reading() as connection:
            rows = connection.execute(text("SELECT payload FROM events")).scalars()
            yield "rows", "\n".join(rows).encode()

    def close(self) -> None:
        if hasattr(self, "log"):
            self.logging.__exit__(None, None, None)
            self.file.__exit__()
            self.world.close()
        self.folder.cleanup()


@contextmanager
def _logging_to(lines: io.StringIO, redactor: Redactor) -> Iterator[None]:
    """Log as the service does, but into a text."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level, structlog.get_config())
    with redirect_stderr(lines):
        set_up_logging(redactor.redact_json, as_json=True)
    try:
        yield
    finally:
        root.handlers[:], root.level = before[:2]
        structlog.configure(**before[2])


def test_no_form_of_a_secret_is_stored_logged_or_shown(database: Database) -> None:
    run_state_machine_as_test(
        partial(Leaks, database),  # type: ignore[arg-type] # called, no more
        settings=settings(max_examples=25, stateful_step_count=12, deadline=None),
    )


def test_a_secret_in_a_file_of_events_is_gone_when_it_was_imported(
    database: Database, tmp_path: Path
) -> None:
    secret = "kZ7 correct horse Wq9"
    foreign, ours = tmp_path / "foreign.jsonl", tmp_path / "ours.jsonl"
    with JsonlEventLog(foreign, lambda tree: tree, FakeClock()) as log:
        log.append(Source.USER, Message(text=f"it is {secret}"))
    world = LogWorld(database, Redactor([secret]).redact_json)
    log_of_ours = world.open_log()
    import_log(foreign, log_of_ours)
    with ours.open("w") as file:
        export_log(log_of_ours, file)
    world.close()
    assert secret in foreign.read_text()
    assert secret not in ours.read_text()
