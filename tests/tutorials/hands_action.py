"""What people and GitHub's runners do about the workflow that a tutorial adds."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.action.gates import lets_in
from tests.action.scene import Run, Scene
from tests.fakes.github import bare
from tests.flow.story import MODEL_KEY
from tests.runner.expressions.evaluate import Scene as Contexts
from tests.runner.expressions.templates import fill
from tests.runner.workflow import Job, read_workflow
from tests.tutorials.following import Hand, Place
from tests.tutorials.hands_github import issue_text, pull_requests
from tests.tutorials.world import GITHUB, READER, RELEASE, SHOP

WORKFLOW = ".github/workflows/patchwright.yml"
CALLED = f"patchwright/patchwright/.github/workflows/patchwright.yml@{RELEASE}"


@dataclass
class Actions:
    """The settings of the repository, and what its runners have done."""

    folder: Path
    secrets: dict[str, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    @property
    def hands(self) -> dict[str, Hand]:
        return {
            "open a terminal in the checkout": _open_a_terminal,
            "add the secret": lambda _: self.secrets.update(LLM_API_KEY=MODEL_KEY),
            "let Actions open pull requests": _let_actions_open_pull_requests,
            "open an issue": self._open_an_issue,
            "see the pull request": self._see_the_pull_request,
        }

    def _open_an_issue(self, place: Place) -> None:
        github = place.world.github
        github.add_hook(SHOP, "a hook, so that events are announced")
        github.open_issue(SHOP, READER, *issue_text())
        self._start(place)

    def _start(self, place: Place) -> None:
        """Let a runner do what the pushed workflow says about the newest event."""
        github = place.world.github
        delivery = github.deliveries[-1]
        event = json.loads(delivery.body)
        file = self.folder / "pushed.yml"
        pushed = bare.git(github.git_folder(SHOP), "show", f"main:{WORKFLOW}")
        file.write_bytes(pushed)
        written = yaml.load(pushed, yaml.BaseLoader)
        assert delivery.action in written["on"][delivery.event]["types"]
        [document] = written["jobs"].values()
        assert document["uses"] == CALLED
        [job] = read_workflow(file).jobs.values()
        given = self._given(job)
        assert lets_in(delivery.event, event, **given)
        levels = {n.replace("-", "_"): level for n, level in job.permissions.items()}
        token = github.mint_actions_token(SHOP, levels)
        scene = Scene(github, place.world.model, self.folder, token)
        job_of_runner = scene.make_job(delivery.event, event)
        self.runs.append(scene.use(job_of_runner, **given))

    def _given(self, job: Job) -> dict[str, str]:
        contexts = Contexts({"inputs": {}, "secrets": dict(self.secrets)})
        assert fill(job.secrets["llm-api-key"], contexts) == MODEL_KEY
        return {name: fill(text, contexts) for name, text in job.given.items()}

    def _see_the_pull_request(self, place: Place) -> None:
        [run] = self.runs
        run.said(outcome="resolved")
        [pull] = pull_requests(place)
        assert pull.draft
        assert "**Proven**" in run.summary


def _let_actions_open_pull_requests(place: Place) -> None:
    with place.world.github.world.lock:
        place.world.github.world.actions_may_open_pulls = True


def _open_a_terminal(place: Place) -> None:
    """Clone the shop as somebody whose git may push to it."""
    host = GITHUB.web_url.removeprefix("https://")
    known = f"https://{READER}:{place.world.values['github.token']}@{host}"
    place.machine.append("~/.git-credentials", known)
    place.machine.type("git config --global credential.helper store")
    place.machine.type(f"git clone --quiet {GITHUB.web_url}/{SHOP} && cd shop")
