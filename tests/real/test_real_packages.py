"""A known bug of a real package, reported in a file, becomes a proven branch."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call
from tests.real.hidden import run_hidden_test
from tests.real.recipes import Recipe, Turn, load_recipes
from tests.real.sdists import make_repository

PATCHWRIGHT = Path(sys.executable).with_name("patchwright")
PROMISED = {
    "outcome",
    "reason",
    "proof",
    "summary",
    "branch",
    "base_sha",
    "head_sha",
    "pr_url",
    "evidence",
    "cost_usd",
    "tokens",
    "iterations",
    "run_id",
    "events",
    "left_out",
}


@pytest.mark.real
@pytest.mark.timeout(240)
@pytest.mark.parametrize("recipe", load_recipes(), ids=str)
def test_an_issue_in_a_file_becomes_a_proven_branch(
    recipe: Recipe, tmp_path: Path, sandbox_image: str
) -> None:
    repository = tmp_path / "repository"
    make_repository(recipe, repository)
    base = _git(repository, "rev-parse", "HEAD")

    answer, _ = resolve_recorded(recipe.turns, recipe, tmp_path, sandbox_image)

    assert answer.keys() >= PROMISED
    assert (answer["outcome"], answer["proof"]) == ("resolved", "proven")
    assert answer["base_sha"] == base
    assert answer["pr_url"] is None
    assert {
        (entry["role"], entry["exit_code"] == 0)
        for entry in answer["evidence"]
        if entry["role"] in {"before", "after"}
    } == {("before", False), ("after", True)}

    assert _git(repository, "status", "--porcelain") == ""
    assert _git(repository, "rev-parse", "HEAD") == base
    assert _git(repository, "rev-parse", answer["branch"]) == answer["head_sha"]

    fixed = tmp_path / "fixed"
    _git(repository, "worktree", "add", "--detach", str(fixed), answer["branch"])
    hidden = run_hidden_test(recipe, fixed)
    assert hidden.returncode == 0, hidden.stderr


def resolve_recorded(
    turns: Sequence[Turn], recipe: Recipe, folder: Path, image: str
) -> tuple[dict[str, Any], int]:
    """Have the turns played; return the answer as JSON and the number of requests."""
    issue = folder / "issue.md"
    issue.write_text(recipe.issue.lstrip())
    script = [call(turn.tool, **turn.arguments) for turn in turns]
    with FakeProvider(script, takes_advice=True) as provider:
        settings = [
            f"LLM_BASE_URL={provider.base_url}",
            "LLM_API_KEY=sk-test",
            f"PATCHWRIGHT_STATE_DIR={folder / 'state'}",
            f"PATCHWRIGHT_SANDBOX__IMAGE={image}",
        ]
        options = ["-C", "repository", "--file", str(issue)]
        options += ["--model", "openai/recorded", "--json"]
        ended = subprocess.run(
            ["env", *settings, str(PATCHWRIGHT), "resolve", *options],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr
    assert provider.refused == []
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer, len(provider.requests)


def _git(folder: Path, *arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()
