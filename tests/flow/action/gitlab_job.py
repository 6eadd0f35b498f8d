"""Run the job of a pipeline in this process, as GitLab's runner would, and read it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patchwright.core.llm.library import load_litellm
from patchwright.integrations.gitlab.ci.system import variable_of
from patchwright.workers.action.run import run_job
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.story import FILES, MODEL_KEY

PROJECT = "acme/web/shop"
ARTIFACTS = ".patchwright-run"


@dataclass(frozen=True)
class Ended:
    """A job that has ended: its exit code, and what it leaves to later jobs."""

    code: int
    outputs: Mapping[str, str]
    dotenv: Mapping[str, str]
    folder: Path

    @property
    def end(self) -> tuple[str, str]:
        return self.outputs["outcome"], self.outputs["error-code"]


@dataclass(frozen=True)
class Pipelines:
    """A project with a pipeline that runs our job, and the people around it.

    `token` is the bot's, who is `bot`.
    """

    gitlab: FakeGitLab
    provider: FakeProvider
    folder: Path
    project_id: int
    bot: str
    token: str

    def run(self, *, by: str = "alice", source: str = "web", **more: str) -> Ended:
        """Run the job with variables, or inputs of ours, that are in lower case."""
        given = {
            variable_of(name) if name.islower() else name: text
            for name, text in more.items()
        }
        environ = {**self._usual(self._new("job"), by, source), **given}
        code = run_job(environ)
        kept = Path(environ["CI_PROJECT_DIR"]) / ARTIFACTS
        dotenv = (kept / "outputs.env").read_text("utf-8").splitlines()
        pairs = (line.partition("=") for line in dotenv)
        return Ended(
            code=code,
            outputs=json.loads((kept / "outputs.json").read_text("utf-8")),
            dotenv={name: text for name, _, text in pairs},
            folder=kept,
        )

    def deliver(self, *, by: str = "owner", **more: str) -> Ended:
        """Run the job for the newest delivery, as a webhook of a trigger's does."""
        return self.send(self.newest(), by=by, **more)

    def newest(self) -> dict[str, Any]:
        return dict(json.loads(self.gitlab.deliveries[-1].body))

    def send(
        self, payload: Mapping[str, Any], *, by: str = "owner", **more: str
    ) -> Ended:
        """Run the job for a payload."""
        file = str(self._store(payload))
        return self.run(by=by, source="trigger", TRIGGER_PAYLOAD=file, **more)

    def variables_for(self, payload: Mapping[str, Any]) -> dict[str, str]:
        """Return what the runner tells a job that this payload starts."""
        usual = self._usual(self._new("job"), "owner", "trigger")
        return {**usual, "TRIGGER_PAYLOAD": str(self._store(payload))}

    def _store(self, payload: Mapping[str, Any]) -> Path:
        """Write what GitLab gives to the job: the payload, and what else was sent."""
        added = {"id": str(self.project_id), "ref": "main", "variables": {}}
        file = self._new("payload") / "TRIGGER_PAYLOAD"
        file.write_text(json.dumps({**payload, **added}), "utf-8")
        return file

    def _new(self, name: str) -> Path:
        folder = self.folder / f"{name}-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        return folder

    def _usual(self, place: Path, by: str, source: str) -> dict[str, str]:
        url = f"{self.gitlab.base_url}/{PROJECT}"
        return {
            "GITLAB_CI": "true",
            "CI_PROJECT_DIR": str(place / "shop"),
            "CI_PROJECT_ID": str(self.project_id),
            "CI_PROJECT_PATH": PROJECT,
            "CI_PROJECT_URL": url,
            "CI_SERVER_URL": self.gitlab.base_url,
            "CI_PIPELINE_ID": "900",
            "CI_PIPELINE_SOURCE": source,
            "CI_JOB_ID": "4711",
            "CI_JOB_URL": f"{url}/-/jobs/4711",
            "CI_JOB_TOKEN": "glcbt-of-the-job-itself",
            "GITLAB_USER_LOGIN": by,
            "GITLAB_USER_ID": str(self._user_id(by)),
            "PATCHWRIGHT_GITLAB__TOKEN": self.token,
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "LLM_API_KEY": MODEL_KEY,
            variable_of("llm-model"): "openai/scripted",
            variable_of("llm-base-url"): self.provider.base_url,
        }

    def _user_id(self, username: str) -> int:
        users = self.gitlab.world.users.values()
        return next(one.id for one in users if one.username == username)


@contextmanager
def pipelines(folder: Path, turns: Script) -> Iterator[Pipelines]:
    """Set the scene: alice may write, eve may not, owner has the trigger's token."""
    # With each test pytest forgets which of its warnings are none.
    load_litellm.cache_clear()
    load_litellm()
    with FakeGitLab() as gitlab, FakeProvider(turns, api_key=MODEL_KEY) as provider:
        for username in ("alice", "eve", "owner"):
            gitlab.add_user(username)
        number = gitlab.add_project(PROJECT, files=FILES)
        gitlab.grant(PROJECT, "alice", Level.DEVELOPER)
        gitlab.grant(PROJECT, "owner", Level.MAINTAINER)
        token, bot = gitlab.add_project_token(
            PROJECT, scopes=("api", "write_repository")
        )
        gitlab.add_hook(PROJECT, "any secret")
        yield Pipelines(gitlab, provider, folder, number, bot, token)
