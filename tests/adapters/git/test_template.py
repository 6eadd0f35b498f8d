"""A repository's template for pull requests is found where GitHub finds it."""

import pytest

from patchwright.resolver.context.repository_files import find_template
from tests.adapters.git.workshop import WorkTree


def found(tree: WorkTree, *files: str) -> str:
    for file in files:
        tree.write(file, file.encode())
    return find_template(tree.objects, tree.commit())


@pytest.mark.parametrize(
    "path",
    [
        ".github/pull_request_template.md",
        "PULL_REQUEST_TEMPLATE.md",
        "docs/Pull_Request_Template.txt",
        ".github/PULL_REQUEST_TEMPLATE/default.md",
        "docs/pull_request_template/only.md",
    ],
)
def test_it_is_found_whatever_its_letters(origin: WorkTree, path: str) -> None:
    assert found(origin, path, "README.md") == path


def test_the_folder_of_github_comes_first(origin: WorkTree) -> None:
    several = ("pull_request_template.md", ".github/pull_request_template.md")
    assert found(origin, *several) == ".github/pull_request_template.md"


def test_among_several_the_default_counts(origin: WorkTree) -> None:
    folder = ".github/PULL_REQUEST_TEMPLATE"
    assert found(origin, f"{folder}/a.md", f"{folder}/default.md") == (
        f"{folder}/default.md"
    )


@pytest.mark.parametrize(
    "files",
    [
        ("README.md",),
        ("src/pull_request_template.md",),
        (".github/PULL_REQUEST_TEMPLATE/a.md", ".github/PULL_REQUEST_TEMPLATE/b.md"),
    ],
)
def test_where_none_is_meant_there_is_none(
    origin: WorkTree, files: tuple[str, ...]
) -> None:
    assert found(origin, *files) == ""


def test_a_link_that_leads_out_is_not_followed(origin: WorkTree) -> None:
    (origin.path / "pull_request_template.md").symlink_to("/etc/hostname")
    assert found(origin) == ""
