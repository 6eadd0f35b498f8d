"""Each recipe is whole, and mends a bug that its release really has."""

import subprocess
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from patchwright.core.events.actions import Edit
from tests.real.hidden import run_hidden_test
from tests.real.recipes import Recipe, load_recipes
from tests.real.sdists import make_repository

EDITS = TypeAdapter(list[Edit])
RECIPES = pytest.mark.parametrize("recipe", load_recipes(), ids=str)


@RECIPES
def test_a_recipe_ends_with_a_command_that_proves_it(recipe: Recipe) -> None:
    last = recipe.turns[-1]
    assert last.tool == "finish"
    assert last.arguments["test_commands"]


@RECIPES
def test_the_issue_does_not_give_the_fix_away(recipe: Recipe) -> None:
    new = [line.strip() for _, edit in _edits(recipe) for line in edit.new.splitlines()]
    assert [line for line in new if line and line in recipe.issue] == []


@pytest.mark.real
@RECIPES
def test_the_release_has_the_bug_and_the_edits_mend_it(
    recipe: Recipe, tmp_path: Path
) -> None:
    make_repository(recipe, tmp_path)
    assert "FAILED (" in run_hidden_test(recipe, tmp_path).stderr
    write_tests(recipe, tmp_path)
    assert not _proof_is_green(recipe, tmp_path)

    apply_edits(recipe, tmp_path)

    hidden = run_hidden_test(recipe, tmp_path)
    assert hidden.returncode == 0, hidden.stderr
    assert _proof_is_green(recipe, tmp_path)


def write_tests(recipe: Recipe, folder: Path) -> None:
    for turn in recipe.turns:
        if turn.tool == "write":
            path = folder / str(turn.arguments["path"])
            path.parent.mkdir(exist_ok=True)
            path.write_text(str(turn.arguments["content"]))


def apply_edits(recipe: Recipe, folder: Path) -> None:
    for path, edit in _edits(recipe):
        text = (folder / path).read_text()
        assert text.count(edit.old) == 1
        (folder / path).write_text(text.replace(edit.old, edit.new))


def _proof_is_green(recipe: Recipe, folder: Path) -> bool:
    commands = recipe.turns[-1].arguments["test_commands"]
    assert isinstance(commands, list)
    ended = [
        subprocess.run(
            ["bash", "-c", str(command)], cwd=folder, capture_output=True, check=False
        )
        for command in commands
    ]
    return all(process.returncode == 0 for process in ended)


def _edits(recipe: Recipe) -> list[tuple[str, Edit]]:
    return [
        (str(turn.arguments["path"]), edit)
        for turn in recipe.turns
        if turn.tool == "edit"
        for edit in EDITS.validate_python(turn.arguments["edits"])
    ]
