"""Start a service on a recorded database, with the GitHub of that time."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from patchwright.workers.compose import make_worker
from patchwright.workers.db.database import Database
from tests.fakes.github import bare
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.clock import MovableClock
from tests.flow.serving import serving
from tests.flow.story import MODEL_KEY, REPO, WEBHOOK_SECRET, Story, fix_turns
from tests.golden import storage

BOT: Final = "patchwright"
GITHUB: Final = "http://github.test"
JIRA: Final = "http://jira.test"
SERVICE: Final = "http://patchwright.test"
KEYS: Final = {"PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": f"k1:{'A' * 43}="}
LOOKED: Final = call("finish", summary="Looked.")

# The settings of each story.
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "running": {
        "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.000001",
        "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.000002",
        "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "1000",
        "PATCHWRIGHT_LLM__SEES_IMAGES": "true",
        "PATCHWRIGHT_QUEUE__LEASE_SECONDS": "600",
    },
    "delivering": {},
    "planned": {},
    "confirming": {"PATCHWRIGHT_AGENT__CONFIRM": "risky"},
}
# The model's remaining turns of each story, and the answer that it waits for.
REMAINING_TURNS: Final[Mapping[str, list[TurnLike]]] = {
    "running": fix_turns()[2:],
    "delivering": [],
    "planned": fix_turns(),
    "confirming": [LOOKED],
}
REPLIES: Final = {
    "planned": "@patchwright approve",
    "confirming": "@patchwright approve",
}


def story_of(name: str) -> str:
    """Return which story a recorded database is of, whatever its schema."""
    return name.rpartition("/")[2]


def github_state(story: Story) -> dict[str, Any]:
    """Return what a resumed service needs to find on GitHub."""
    world = story.github.world
    with world.lock:
        issue = world.issue(REPO, 1)
        said = world.comments_of(issue)
        bundle = bare.git(
            story.github.git_folder(REPO), "bundle", "create", "-", "--all"
        )
        return {
            "users": {one.login: one.id for one in world.users.values()},
            "issue": {"title": issue.title, "body": issue.body},
            "comments": [[one.id, one.author, one.body] for one in said],
            "last_id": world.last_id,
            "bundle": base64.b64encode(bundle).decode(),
        }


@contextmanager
def resumed_service(
    name: str, folder: Path, turns: Script, postgres_url: str = ""
) -> Iterator[Story]:
    """Run today's service on a recorded database."""
    with (
        FakeGitHub(enterprise=True) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        token = _restore_github(github, storage.read_json(f"{name}.github"))
        file = folder / "patchwright.db"
        storage.load(name, file, {GITHUB: github.web_url})
        if postgres_url:
            with closing(Database(postgres_url)) as database:
                storage.copy(file, database)
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_DATABASE__URL": postgres_url or f"sqlite:///{file}",
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
            "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": WEBHOOK_SECRET,
            "PATCHWRIGHT_GITHUB__TOKEN": token,
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
            "LLM_API_KEY": MODEL_KEY,
            **KEYS,
            **SETTINGS[story_of(name)],
        }
        clock = MovableClock()
        with serving(environment, folder, clock, None) as (base, url):
            runner = make_worker(base)
            story = Story(github, provider, base, runner, url, clock, environment, BOT)
            yield story
            story.nothing_unread()


def _restore_github(github: FakeGitHub, kept: dict[str, Any]) -> str:
    """Make what GitHub had, with the same ids; return the bot's token."""
    world = github.world
    for login in ("alice", "eve"):
        github.add_user(login)
    github.add_repository(REPO)
    github.grant(REPO, "alice", "write")
    token = github.add_user(BOT)
    github.grant(REPO, BOT, "write")
    github.add_hook(REPO, WEBHOOK_SECRET)
    _fetch(github.git_folder(REPO), base64.b64decode(kept["bundle"]))
    title, body = kept["issue"]["title"], kept["issue"]["body"]
    number = github.open_issue(
        REPO, "alice", title, body.replace(GITHUB, github.web_url)
    )
    world.last_id = kept["last_id"] + 1000
    for comment_id, author, text in kept["comments"]:
        made = world.comments.pop(github.comment(REPO, number, author, text))
        world.comments[comment_id] = replace(made, id=comment_id)
    assert {one.login: one.id for one in world.users.values()} == kept["users"]
    return token


def _fetch(folder: Path, bundle: bytes) -> None:
    file = folder.with_suffix(".bundle")
    file.write_bytes(bundle)
    bare.fetch(folder, file, "+refs/heads/*:refs/heads/*")


def finish_run(story: Story, name: str) -> list[Any]:
    """Give the answer that the run waits for, and let a worker finish it.

    Returns the first chat that the model is sent, up to its last reply in the recorded
    log, with the recorded host names.
    """
    if words := REPLIES.get(story_of(name)):
        story.say(1, words)
    # The lease of the lost worker has expired by then.
    story.work_later(700)
    if not story.provider.requests:
        return []
    _system, *said = story.provider.requests[0]["messages"]
    while said[-1]["role"] != "assistant":
        said.pop()
    text = json.dumps(said).replace(story.github.web_url, GITHUB)
    named: list[Any] = json.loads(text)
    return named
