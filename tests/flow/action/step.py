"""Run the step of the Action in this process, as a workflow would, and read its end."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from patchwright.core.llm.library import load_litellm
from patchwright.integrations.github.ci.workflow import GITHUB_INPUTS
from patchwright.workers.action.run import run
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.story import FILES, MODEL_KEY, REPO

_RUN_ID = "4711"


@dataclass(frozen=True)
class Workflow:
    """How the workflow runs; with `has_job_token` it has no other token."""

    actor: str = "alice"
    rerun_by: str = ""
    has_job_token: bool = False


_USUAL: Final = Workflow()


@dataclass(frozen=True)
class Step:
    """A repository with a workflow that uses the Action, and the people around it."""

    github: FakeGitHub
    provider: FakeProvider
    folder: Path
    token: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def use(
        self,
        event_name: str,
        event: Mapping[str, Any],
        workflow: Workflow = _USUAL,
        **inputs: str,
    ) -> "Said":
        """Run the step for an event, and return what it says.

        Inputs are named with underscores.
        """
        given = {name.replace("_", "-"): text for name, text in inputs.items()}
        number = len(list(self.folder.iterdir()))
        place = self.folder / f"use-{number}"
        (place / "artifacts").mkdir(parents=True)
        (self.folder / "workspace").mkdir(exist_ok=True)
        path = place / "event.json"
        path.write_text(json.dumps(event), "utf-8")
        run(
            {
                "PATCHWRIGHT_ACTION_INPUTS": json.dumps(self._inputs() | given),
                "PATCHWRIGHT_ACTION_FOLDER": str(place),
                "PATCHWRIGHT_SANDBOX__KIND": "local",
                "LLM_API_KEY": MODEL_KEY,
                **self.variables,
                "GITHUB_EVENT_NAME": event_name,
                "GITHUB_EVENT_PATH": str(path),
                "GITHUB_REPOSITORY": REPO,
                "GITHUB_WORKSPACE": str(self.folder / "workspace"),
                "GITHUB_ACTOR": workflow.actor,
                "GITHUB_TRIGGERING_ACTOR": workflow.rerun_by or workflow.actor,
                "PATCHWRIGHT_ACTION_HAS_JOB_TOKEN": str(workflow.has_job_token).lower(),
                "GITHUB_RUN_ID": _RUN_ID,
                "GITHUB_SERVER_URL": self.github.web_url,
            }
        )
        return Said.read(place)

    def use_with_job_token(self, event_name: str, event: Mapping[str, Any]) -> "Said":
        """Run the step as it is used without a token of one's own."""
        rights = {"contents": "write", "issues": "write", "pull_requests": "write"}
        token = self.github.mint_actions_token(REPO, rights)
        workflow = Workflow(has_job_token=True)
        return self.use(event_name, event, workflow, github_token=token)

    def event(self) -> dict[str, Any]:
        """Return what the newest delivery says."""
        return dict(json.loads(self.github.deliveries[-1].body))

    def deliver(self, workflow: Workflow = _USUAL, **inputs: str) -> "Said":
        """Run the step for the newest delivery."""
        newest = self.github.deliveries[-1]
        return self.use(newest.event, self.event(), workflow, **inputs)

    def _inputs(self) -> dict[str, str]:
        defaults = {name: one.default for name, one in GITHUB_INPUTS.items()}
        return {
            **defaults,
            "github-token": self.token,
            "github-api-url": self.github.api_url,
            "github-server-url": self.github.web_url,
            "llm-model": "openai/scripted",
            "llm-base-url": self.provider.base_url,
        }


@dataclass(frozen=True)
class Said:
    """What the step leaves for the steps after it."""

    grade: str
    outputs: Mapping[str, str]
    summary: str
    notices: list[str]
    folder: Path

    @classmethod
    def read(cls, folder: Path) -> "Said":
        told = json.loads((folder / "result.json").read_text("utf-8"))
        return cls(
            told["grade"], told["outputs"], told["summary"], told["notices"], folder
        )

    @property
    def end(self) -> tuple[str, str]:
        return self.outputs["outcome"], self.outputs["error-code"]


@contextmanager
def a_step(
    folder: Path, turns: Script, *, variables: Mapping[str, str] | None = None
) -> Iterator[Step]:
    """Set the scene: `acme/shop`, which alice may write and eve may not.

    The step has the token of a machine user, and `variables` in its environment.
    """
    # With each test pytest forgets which of its warnings are none.
    load_litellm.cache_clear()
    load_litellm()
    with (
        FakeGitHub(enterprise=True) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        for login in ("alice", "eve"):
            github.add_user(login)
        github.add_repository(REPO, files=FILES)
        github.grant(REPO, "alice", "write")
        token = github.add_user("robot")
        github.grant(REPO, "robot", "write")
        github.add_hook(REPO, "any secret")
        yield Step(github, provider, folder, token, variables or {})
