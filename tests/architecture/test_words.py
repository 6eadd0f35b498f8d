"""The tree says nothing about the machine it was written on."""

import re

from tests.architecture.tree import texts

# Spelled in parts, so that this file passes its own test.
REGISTRIES = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("deb.debian", "org"),
    ("archive.ubuntu", "com"),
    ("golang", "org"),
    ("crates", "io"),
)
FOLDERS = (("/root", ""), ("/Users", ""))


def test_no_package_registry_is_named() -> None:
    assert _mentions([".".join(parts) for parts in REGISTRIES]) == []


def test_no_folder_of_a_developers_machine_is_named() -> None:
    assert _mentions(["/".join(parts) for parts in FOLDERS]) == []


def test_every_to_do_has_an_issue() -> None:
    # In quotes it is a word of others: a task in a document of Jira's has that state.
    to_do = re.compile(r"(?<!\")\bTO" + r"DO\b(?! #\d)")
    assert [name for name, text in texts() if to_do.search(text)] == []


def _mentions(words: list[str]) -> list[str]:
    return [
        f"{name}: {word}" for name, text in texts() for word in words if word in text
    ]
