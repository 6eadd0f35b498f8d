"""The documentation speaks of what is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from patchwright.core.settings.limits import LimitSettings
from tests.architecture.tree import ROOT, modules, project_files

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODE_PATH = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
MESSAGE = re.compile(r"``(.+?)``")
YAML_BLOCK = re.compile(r"```yaml\n(.+?)```", re.DOTALL)
SHELL_VALUE = re.compile(r"\$(?:\w+|\*|@)")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


# What is new has its files listed in contributing.md under these titles; each file of
# the product among them has to do with what is named here.
EXTENSIONS = {
    "A new service": r"(?i)jira|class \w*Channel",
    "A new command": r"\bVerb\b|\bdefinition_of\b",
    "A new condenser": r"(?i)condenser",
    "A new check of `patchwright doctor`": r"\bCHECKS\b|\bcheck_",
    "A new runtime": r"RuntimeFactory|sandbox",
    "A new trigger": r"\bTriggerKind\b",
}
LISTED = re.compile(r"`((?:patchwright|tests|docs)/[\w./-]+)`")
# One screen, as people have them.
SCREEN_LINES = 50


def test_the_walk_leads_through_files_that_exist() -> None:
    named = CODE_PATH.findall((ROOT / "docs/walk.md").read_text())
    assert 30 < len(set(named)) < 40
    here = set(project_files())
    assert [path for path in named if not {path, f"patchwright/{path}"} & here] == []


@pytest.mark.parametrize(("title", "about"), EXTENSIONS.items())
def test_contributing_lists_the_files_of_something_new(title: str, about: str) -> None:
    named = LISTED.findall(_sections("docs/contributing.md")[title])
    code = [name for name in named if name.startswith("patchwright/")]
    assert len(code) > 1
    assert {"tests/", "docs/"} & {f"{name.partition('/')[0]}/" for name in named}
    assert [name for name in named if not (ROOT / name).exists()] == []
    files = [ROOT / name for name in code if name.endswith(".py")]
    assert [file for file in files if not re.search(about, _content(file))] == []


def test_contributing_lists_nothing_else() -> None:
    titles = _sections("docs/contributing.md").keys()
    assert {
        title for title in titles if title.startswith("A new ")
    } == EXTENSIONS.keys()


def test_the_glossary_is_one_screen_in_order() -> None:
    lines = (ROOT / "docs/glossary.md").read_text().splitlines()
    words = [line.split(" | ")[0].removeprefix("| ") for line in lines[4:]]
    assert len(lines) <= SCREEN_LINES
    assert words[2:] == sorted(words[2:])


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_links_lead_to_files(file: Path) -> None:
    linked = LINK.findall(file.read_text())
    assert [link for link in linked if not (file.parent / link).exists()] == []


def test_every_page_is_among_the_contents() -> None:
    docs = ROOT / "docs"
    named = set((docs / "contents.md").read_text().splitlines())
    pages = {str(one.relative_to(docs).with_suffix("")) for one in docs.rglob("*.md")}
    listed = {one for one in pages if not one.startswith("decisions/0")}
    assert listed - named == {"contents"}


def test_every_decision_is_among_the_decisions() -> None:
    folder = ROOT / "docs/decisions"
    named = set(LINK.findall((folder / "index.md").read_text()))
    assert named == {one.name for one in folder.glob("0*.md")}


def _sections(page: str) -> dict[str, str]:
    """Return the texts of a page by the title in front of each."""
    parts = re.split(r"^#+ (.+)$", (ROOT / page).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _content(file: Path) -> str:
    return f"{file}\n{file.read_text()}"


def test_quoted_messages_are_those_of_the_code() -> None:
    pages = [f"docs/{name}.md" for name in ("troubleshooting", "gitlab", "linear")]
    text = "\n".join((ROOT / page).read_text() for page in pages)
    quoted = [one.strip() for one in MESSAGE.findall(text)]
    ours = "\n".join(_sentences())
    assert len(quoted) > 20
    assert [one for one in quoted if one not in ours] == []


def test_the_workflow_in_the_readme_is_the_whole_one() -> None:
    [sample] = YAML_BLOCK.findall((ROOT / "README.md").read_text())
    whole = ROOT / "docs/examples/workflows/patchwright.yml"
    assert yaml.load(sample, yaml.BaseLoader) == yaml.load(
        whole.read_text(), yaml.BaseLoader
    )


def test_the_readme_names_the_limits_that_hold() -> None:
    text = (ROOT / "README.md").read_text()
    limits = LimitSettings()
    assert f"${limits.max_cost_usd:.2f} for a run" in text
    assert f"${limits.per_user_day_usd:g} a day for one person" in text
    assert f"${limits.per_repo_day_usd:g} for one repository" in text
    assert f"${limits.per_day_usd:g} for everybody" in text


def _sentences() -> Iterator[str]:
    """Return the texts of the code, with `…` for each value that is put in."""
    for module in modules("patchwright"):
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(map(_part, node.values))
    for script in sorted((ROOT / "scripts").glob("[!_]*")):
        if script.is_file():
            yield SHELL_VALUE.sub("…", script.read_text())


def _part(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "…"
