"""Texts that Jira itself wrote are read without an error; ours fit its schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from patchwright.integrations.jira.text.adf_reader import adf_blocks, adf_to_markdown
from patchwright.integrations.jira.text.adf_writer import to_adf
from patchwright.integrations.jira.text.wiki_reader import wiki_blocks, wiki_to_markdown
from patchwright.integrations.jira.webhooks.triggers import request_in_adf
from tests.fakes.jira.adf import check
from tests.provision import environment
from tests.unit.jira.called import called_by
from tests.unit.jira.test_text_out import MARKDOWN, STATUS

TEXTS = {"description", "body", "environment", "comment"}


@pytest.fixture(scope="module")
def jira() -> Path | None:
    corpus = environment.corpus()
    return corpus / "jira" if corpus else None


def parts_of(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield everything in a JSON value with the name it has there."""
    yield key, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from parts_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from parts_of(inner, key)


def documents(folder: Path) -> Iterator[dict[str, Any]]:
    files = [*folder.glob("adf/*.json"), *folder.glob("rest/**/*.json")]
    for file in [*files, folder / "openapi-v3.json"]:
        for _, part in parts_of(json.loads(file.read_text())):
            if isinstance(part, dict) and part.get("type") == "doc":
                yield part


def test_outside_documents_are_read(jira: Path | None) -> None:
    for document in documents(jira) if jira else ():
        assert adf_to_markdown(document)
        request_in_adf(document, frozenset({"5b10"}), "@patchwright")


def test_outside_wiki_markup_is_read(jira: Path | None) -> None:
    for file in jira.glob("webhooks/*/*.json") if jira else ():
        for name, text in parts_of(json.loads(file.read_text())):
            if name in TEXTS and isinstance(text, str):
                assert bool(wiki_to_markdown(text)) == bool(text.strip())


def test_outside_mentions_are_found(jira: Path | None) -> None:
    if jira is None:
        return
    comment = json.loads((jira / "adf" / "made-comment-mention.json").read_text())
    assert called_by(adf_blocks(comment)) == {"5b10a2844c20165700ede21g"}
    file = jira / "webhooks" / "cloud" / "comment_created_with_account_mention.json"
    body = json.loads(file.read_text())["comment"]["body"]
    assert called_by(wiki_blocks(body)) == {
        "619a4432ebce470067f20384",
        "63a22fb348b367d78a14c15b",
    }


@given(MARKDOWN)
def test_what_we_write_fits_the_schema(markdown: str) -> None:
    check(to_adf(markdown))


def test_a_status_of_ours_fits_the_schema() -> None:
    check(to_adf(STATUS))


def test_outside_documents_come_back_as_documents(jira: Path | None) -> None:
    for document in documents(jira) if jira else ():
        check(to_adf(adf_to_markdown(document)))
