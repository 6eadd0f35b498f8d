"""A change is judged by what git has of it: paths, old versions, new versions."""

import pytest

from patchwright.resolver.clean import CleanedChange, KeepAs, clean
from tests.adapters.git.workshop import WorkTree

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def judged(tree: WorkTree, base: str) -> CleanedChange:
    tree.commit()
    return clean(tree.objects, base, tree.head)


def test_r8_an_ordinary_change_meets_no_objection(origin: WorkTree) -> None:
    base = origin.head
    origin.write("src/app.py", b"def add(a, b):\n    return a + b\n")
    origin.write("tests/test_app.py", b"def test_add():\n    assert add(1, 1) == 2\n")
    cleaned = judged(origin, base)
    assert (cleaned.objection, cleaned.warnings, cleaned.notes) == (None, (), ())


def test_r8_a_protected_path_is_named_with_its_rule(origin: WorkTree) -> None:
    base = origin.head
    origin.write("docs/CODEOWNERS", b"* @me\n")
    objection = judged(origin, base).objection
    assert objection is not None
    assert (objection.reason, objection.keep) == ("protected-paths", KeepAs.BRANCH)
    assert objection.text.endswith("\n\n- `CODEOWNERS`: `docs/CODEOWNERS`")


def test_r8_a_workflow_must_not_even_become_a_branch(origin: WorkTree) -> None:
    base = origin.head
    origin.write(".github/workflows/ci.yml", b"on: push\n")
    cleaned = judged(origin, base)
    assert cleaned.objection is not None
    assert cleaned.objection.keep is KeepAs.PATCH
    assert cleaned.warnings == (
        "The configuration of CI was changed: `.github/workflows/ci.yml`.",
    )


def test_r8_a_link_in_place_of_a_protected_folder_is_found(origin: WorkTree) -> None:
    origin.write(".github/workflows/ci.yml", b"on: push\n")
    base = origin.commit()
    origin.git("rm", "-r", "--quiet", ".github")
    (origin.path / ".github").symlink_to("src")
    objection = judged(origin, base).objection
    assert objection is not None
    assert objection.reason == "protected-paths"


def test_r8_a_repository_may_protect_other_paths(origin: WorkTree) -> None:
    base = origin.head
    origin.write(".github/workflows/ci.yml", b"on: push\n")
    origin.commit()
    cleaned = clean(origin.objects, base, origin.head, protected_paths=("infra/**",))
    assert cleaned.objection is None


@pytest.mark.parametrize("name", ["settings.py", "odd\nname.py", "caf\udce9.py"])
def test_r8_a_secret_keeps_everything_here(origin: WorkTree, name: str) -> None:
    base = origin.head
    origin.write("docs/CODEOWNERS", b"* @me\n")
    origin.write(name, f"a = 1\ntoken = '{TOKEN}'\n".encode())
    objection = judged(origin, base).objection
    assert objection is not None
    assert (objection.reason, objection.keep) == ("secret-in-diff", KeepAs.NOTHING)
    assert ", line 2\n" in objection.text
    assert TOKEN not in objection.text


def test_r8_a_secret_that_was_there_is_no_reason(origin: WorkTree) -> None:
    origin.write("settings.py", f"token = '{TOKEN}'\n".encode())
    base = origin.commit()
    origin.git("mv", "settings.py", "config.py")
    origin.write("config.py", f"# The config.\ntoken = '{TOKEN}'\n".encode())
    assert judged(origin, base).objection is None


def test_r8_rubbish_that_is_left_out_cannot_object(origin: WorkTree) -> None:
    base = origin.head
    origin.write(".venv/lib/a.py", f"token = '{TOKEN}'\n".encode())
    origin.write("src/app.py", b"def add(a, b):\n    return a + b\n")
    cleaned = judged(origin, base)
    assert cleaned.objection is None
    assert cleaned.notes == ("Left out as build or scratch files: `.venv/lib/a.py`.",)
