"""No credential enters the sandbox, and no secret leaves the service."""

import base64
import io
import logging
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import structlog

from patchwright.core.settings.model import secret_values
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.integrations.github.settings import GitHubSettings
from tests.fakes.github.bare import git
from tests.fakes.github.state import TokenKind
from tests.fakes.llm.turns import call
from tests.flow.story import MODEL_KEY, REPO, WEBHOOK_SECRET, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
PASTED = "ghp_" + "Ab1" * 12
# What is printed backwards is not known to those who blot out secrets; the last word
# is the base64 of `x-access-token`, which stands before a token in git's requests.
SEARCH = r"""
exec 2>&1
secret='gh[sp]_[A-Za-z0-9]{20,}|sk-story-|correct horse|BEGIN RSA|eC1hY2Nlc3MtdG9rZW4'
git config -l; git remote -v; cat .git/config; env | rev
cat /proc/*/environ /proc/*/cmdline | tr '\0' '\n' | grep -aE "$secret" | rev
grep -rhaE "$secret" /workspace /tmp /home /root /etc /run /var /opt /dev/shm | rev
"""


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Keep what the process logs while a test runs."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level, structlog.get_config())
    with io.StringIO() as written:
        yield written
        root.handlers[:], root.level = before[:2]
        structlog.configure(**before[2])


def test_s82_s83_a_credential_is_nowhere_it_could_be_read(
    tmp_path: Path, log: io.StringIO
) -> None:
    look = call("shell", command=SEARCH)
    with telling(tmp_path, [look, *fix_turns()]) as story:
        _log_to(log, story)
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        assert "job_finished" in log.getvalue()
        places = {**dict(_places(story, tmp_path)), "log": log.getvalue().encode()}
        found = {
            place: name
            for name, secret in _secrets(story).items()
            for form in _forms(secret)
            for place, content in places.items()
            if form in content
        }
        assert found == {}


def test_s82_no_credential_is_in_a_container(
    tmp_path: Path, sandbox_image: str
) -> None:
    settings = {
        "PATCHWRIGHT_SANDBOX__KIND": "docker",
        "PATCHWRIGHT_SANDBOX__IMAGE": sandbox_image,
    }
    look = call("shell", command=SEARCH)
    with telling(tmp_path, [look, *fix_turns()], settings=settings) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        requests = b"".join(story.provider.raw_requests)
        assert [
            name
            for name, secret in _secrets(story).items()
            if any(form in requests for form in _forms(secret))
        ] == []


def test_s83_a_secret_that_was_pasted_into_the_issue_is_not_repeated(
    tmp_path: Path,
) -> None:
    turns = [
        call("write", path="note.txt", content="Done.\n"),
        call(
            "finish",
            title=f"Use {PASTED}",
            summary=f"The token {PASTED} works.",
            test_commands=[f"echo {PASTED}"],
        ),
    ]
    with telling(tmp_path, turns) as story:
        issue = story.ask(f"@patchwright it fails with my token {PASTED}")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        message = git(story.github.git_folder(REPO), "log", "-1", pull.head_sha)
        said = [story.reply(issue), pull.title, pull.body, message.decode()]
        assert [text for text in said if PASTED in text] == []
        assert PASTED.encode() not in b"".join(story.provider.raw_requests)
        assert "works." in story.reply(issue)


def test_m8_a_secret_that_was_pasted_is_not_in_the_database_nor_in_a_branch(
    tmp_path: Path,
) -> None:
    pasted = (PASTED, "AKIAIOSFODNN7EXAMPLQ", MODEL_KEY)
    with telling(tmp_path, fix_turns()) as story:
        title = f"It breaks with {pasted[2]}"
        issue = story.ask(f"It fails with {' and '.join(pasted)}", title=title)
        story.say(issue, f"Also {' '.join(pasted)}", author="eve")
        story.say(issue, f"{WISH}, it says {' '.join(pasted)}")
        story.say(issue, f"@patchwright and use {' '.join(pasted)} for it")
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        branches = story.branches()
        stored = _database_files(story)
    # As a branch spells it: in lower case, and without all other signs.
    told = [name for name in branches for one in pasted if one[:12].lower() in name]
    assert told == []
    assert any(b"Wrong" in data or b"breaks" in data for data in stored.values())
    found = [
        (place, secret)
        for place, data in stored.items()
        for secret in pasted
        if secret.encode() in data
    ]
    assert found == []


def _database_files(story: Story) -> dict[str, bytes]:
    """Read the files of the database as they are on the disk, with what was freed."""
    file = Path(str(story.base.database.engine.url.database))
    beside = file.parent.glob(f"{file.name}*")
    return {one.name: one.read_bytes() for one in beside if one.is_file()}


def _log_to(written: io.StringIO, story: Story) -> None:
    """Log as `patchwright serve` does, to this text instead of standard error."""
    redactor = Redactor(secret_values(story.base.settings))
    with redirect_stderr(written):
        set_up_logging(redactor.redact_json, as_json=True)


def _places(story: Story, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield everything that people, models or disks get to keep."""
    yield "model requests", b"\n".join(story.provider.raw_requests)
    for issue in story.github.world.issues_of(REPO):
        said = [issue.title, issue.body or "", *story.replies(issue.number)]
        yield f"thread {issue.number}", "\n".join(said).encode()
    log = git(story.github.git_folder(REPO), "log", "--all", "-p")
    yield "commits", log
    events = "\n".join(event.model_dump_json() for event in story.events())
    yield "events", events.encode()
    for file in (folder / "state").rglob("*"):
        if file.is_file():
            yield str(file.relative_to(folder)), file.read_bytes()


def _secrets(story: Story) -> dict[str, str]:
    key = GitHubSettings.of(story.base.settings).private_key
    assert key is not None
    lines = key.get_secret_value().splitlines()
    tokens = [
        token.value
        for token in story.github.world.tokens.values()
        if token.kind is TokenKind.INSTALLATION
    ]
    assert tokens
    return {
        "the App's key": lines[len(lines) // 2],
        "the webhook's secret": WEBHOOK_SECRET,
        "the model's key": MODEL_KEY,
        **{f"token {number}": token for number, token in enumerate(tokens)},
    }


def _forms(secret: str) -> Iterator[bytes]:
    raw = secret.encode()
    yield raw
    yield raw[::-1]
    yield raw.hex().encode()
    for offset in range(3):
        # The first and last characters depend on what stands beside the secret.
        yield base64.b64encode(b"\0" * offset + raw)[4:-4]
