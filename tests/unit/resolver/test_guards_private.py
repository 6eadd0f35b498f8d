"""Words of a private place in what a change would show to everybody."""

import pytest

from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.resolver.guards.changed_files import FileVersions
from patchwright.resolver.guards.leaks import Leak, PrivateWords, find_repeated
from patchwright.resolver.publish.redaction import (
    collect_private_matter,
    find_in_name,
    find_quotations,
)

SAID = "our customer in Hamburg has paid too little for every order since May"
PRIVATE = collect_private_matter(
    [f"{SAID}, see https://crm.test/4711 or ask otto@crm.test"], ["Jo Doe"]
)


WORDS = PrivateWords(
    find=lambda text: find_quotations(text, PRIVATE),
    find_in_name=lambda text: find_in_name(text, PRIVATE),
    are_known_here=False,
)


def version(after: str, before: str | None = "", path: str = "a.py") -> FileVersions:
    kind = ChangeKind.ADDED if before is None else ChangeKind.MODIFIED
    return FileVersions(ChangedPath(path, kind, 0o100644, len(after)), before, after)


@pytest.mark.parametrize(
    "text",
    [f"# {SAID}", f"x = '{SAID.upper()}'", "https://crm.test/4711", "Otto@crm.test"],
)
def test_what_a_change_adds_of_it_is_found_with_its_line(text: str) -> None:
    changed = version(f"x = 1\n{text}\n")
    assert set(find_repeated([changed], WORDS)) == {Leak("a.py", 2)}


@pytest.mark.parametrize(
    "text", ["# by Jo Doe", "# our customer in Hamburg has paid", "https://example.org"]
)
def test_names_and_few_words_are_anybodys(text: str) -> None:
    assert find_repeated([version(text)], WORDS) == ()


def test_what_was_there_before_is_public() -> None:
    moved = [version("", f"# {SAID}\n"), version(f"\n\n# {SAID}\n", path="b.py")]
    assert find_repeated(moved, WORDS) == ()


def test_the_name_of_a_new_file_counts() -> None:
    path = f"{' '.join(SAID.split()[:4]).replace(' ', '_')}.py"
    new = version("x = 1\n", None, path)
    assert find_repeated([new], WORDS) == (Leak(path, 1),)
