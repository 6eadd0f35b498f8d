"""Set the scene: a repository, and a runner that carries our Action out in its jobs."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.action.gates import workflow
from tests.action.machine import make_machine, prepare
from tests.action.promises import hold
from tests.app_manifest import add_our_app
from tests.architecture.tree import ROOT
from tests.fakes.github.acts import accounts
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.bare import File
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.anthropic import FakeAnthropic
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.story import APP_ID, FILES, MODEL_KEY, PING, REPO
from tests.runner.action import read_action
from tests.runner.composite import Result, use
from tests.runner.expressions.evaluate import Status
from tests.runner.expressions.values import Value
from tests.runner.job import Job, Machine

ALICE, EVE = "alice", "eve"
JOB_BOT = "github-actions[bot]"
WISH = "@patchwright please fix the sum"
NUMBERS = count(1000)


@dataclass(frozen=True)
class Run:
    """One run of the workflow that has ended."""

    job: Job
    result: Result

    def __getitem__(self, output: str) -> str:
        return self.result.outputs[output]

    @property
    def outputs(self) -> Mapping[str, str]:
        return self.result.outputs

    def said(self, **expected: str) -> None:
        """Hold outputs against what is expected; `error_code` is `error-code`."""
        wanted = {name.replace("_", "-"): text for name, text in expected.items()}
        got = {name: self.outputs[name] for name in wanted}
        assert got == wanted, f"{self.summary}\n{self.job.log.text}"

    @property
    def summary(self) -> str:
        return self.job.summary

    @property
    def failed(self) -> bool:
        return self.result.status is Status.FAILURE

    def artifact(self) -> dict[str, bytes]:
        [only] = self.job.artifacts.kept.values()
        return only


@dataclass(frozen=True)
class Scene:
    """`acme/shop` with a workflow that uses our Action.

    The token of its jobs may do what the reusable workflow asks for, and no more.
    """

    github: FakeGitHub
    provider: FakeProvider | FakeAnthropic
    folder: Path
    token: str
    environment: dict[str, str] = field(default_factory=dict)

    def app_token(self) -> str:
        """Install our App, and return what a step before ours got for it."""
        add_our_app(self.github, APP_ID, "unused")
        number = self.github.install_app(APP_ID, "acme", [REPO])
        world = self.github.world
        installation = world.installations[number]
        return accounts.mint_installation_token(world, installation, None, None).value

    def happened(self) -> tuple[str, Value]:
        """Return name and payload of what was announced last."""
        newest = self.github.deliveries[-1]
        event: Value = json.loads(newest.body)
        return newest.event, event

    def make_job(
        self,
        name: str,
        event: Value,
        *,
        actor: str = ALICE,
        token: str = "",
        machine: Machine | None = None,
    ) -> Job:
        if machine is None:
            machine = make_machine(self.folder / f"job-{next(NUMBERS)}")
            prepare(machine)
        return Job(
            machine,
            {
                **_context(self.github, name, actor),
                "event": event,
                "token": token or self.token,
            },
            {"LLM_API_KEY": MODEL_KEY},
        )

    def use(self, job: Job, **inputs: str) -> Run:
        """Run the Action in a job; an input `fail_on` is `fail-on`."""
        given = {name.replace("_", "-"): text for name, text in inputs.items()}
        given = {
            "llm-model": "openai/scripted",
            "llm-base-url": self.provider.base_url,
            **given,
        }
        env = {
            "LLM_API_KEY": MODEL_KEY,
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            **self.environment,
        }
        # What makes a token in a step of its own has it masked.
        job.log.add_secret(given.get("github-token", ""))
        result = use(job, read_action(ROOT), given, env)
        hold(job, result, (MODEL_KEY, *self.github.world.tokens))
        return Run(job, result)

    def run(
        self,
        event: tuple[str, Value] | None = None,
        *,
        actor: str = ALICE,
        **inputs: str,
    ) -> Run:
        """Start the workflow for an event, or for what was announced last."""
        name, payload = event or self.happened()
        return self.use(self.make_job(name, payload, actor=actor), **inputs)

    def ask(
        self, body: str = WISH, *, author: str = ALICE, title: str = "Wrong sum"
    ) -> int:
        return self.github.open_issue(REPO, author, title, body)

    def say(self, number: int, body: str = WISH, *, author: str = ALICE) -> int:
        return self.github.comment(REPO, number, author, body)

    def replies(self, number: int) -> list[str]:
        """Return what the Action has said there, but for calling people."""
        said = self.github.comments(REPO, number)
        ours = [one.body for one in said if one.author not in {ALICE, EVE}]
        return [text for text in ours if PING not in text]

    def reply(self, number: int) -> str:
        [only] = self.replies(number)
        return only

    def open_pull(self, branch: str = "topic") -> int:
        """Let alice open a pull request that changes nothing of the shop."""
        self.github.commit_files(REPO, branch, {"note.md": "x\n"}, author=ALICE)
        proposal = Proposal(title="Sum", head=branch, base="main")
        return self.github.open_pull_request(REPO, ALICE, proposal)


@contextmanager
def playing(
    folder: Path,
    turns: Script,
    *,
    files: Mapping[str, str | bytes | File] | None = None,
    permissions: Mapping[str, str] | None = None,
) -> Iterator[Scene]:
    """Set the scene, in which alice may write and eve may not."""
    with (
        FakeGitHub(enterprise=True) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        for login in (ALICE, EVE):
            github.add_user(login)
        github.add_repository(REPO, files={**FILES, **(files or {})})
        github.grant(REPO, ALICE, "write")
        github.add_hook(REPO, "a hook, so that events are announced")
        token = github.mint_actions_token(REPO, permissions or granted())
        yield Scene(github, provider, folder, token)


def granted() -> dict[str, str]:
    """Return what the reusable workflow asks for, in the words of the API."""
    asked = workflow().jobs["run"].permissions
    return {name.replace("-", "_"): level for name, level in asked.items()}


def _context(github: FakeGitHub, name: str, actor: str) -> dict[str, Value]:
    workflow_path = f"{REPO}/.github/workflows/bot.yml"
    return {
        "event_name": name,
        "actor": actor,
        "actor_id": str(github.world.user(actor).id),
        "triggering_actor": actor,
        "api_url": github.api_url,
        "graphql_url": f"{github.api_url}/graphql",
        "server_url": github.web_url,
        "repository": REPO,
        "repository_owner": REPO.partition("/")[0],
        "ref": "refs/heads/main",
        "job": "patchwright",
        "run_id": str(next(NUMBERS)),
        "run_attempt": "1",
        "workflow": "Patchwright",
        "workflow_ref": f"{workflow_path}@refs/heads/main",
        "workflow_sha": "",
    }
