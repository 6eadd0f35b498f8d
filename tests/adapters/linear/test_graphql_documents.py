"""Every GraphQL document is one, and asks for what Linear has."""

from functools import cache
from pathlib import Path

import pytest
from graphql import DocumentNode, GraphQLSchema, build_schema, parse, validate

from patchwright.integrations.linear import (
    adapter,
    channel,
    client,
    issues,
    search,
    sessions,
    threads,
)

MODULES = (adapter, channel, client, issues, search, sessions, threads)
DOCUMENTS = {
    f"{module.__name__.rpartition('.')[2]} {name}": text
    for module in MODULES
    for name, text in vars(module).items()
    if name.isupper()
    and isinstance(text, str)
    and text.lstrip().startswith(("query", "mutation"))
}


@cache
def schema_of(corpus: Path) -> GraphQLSchema:
    text = (corpus / "linear" / "schema.graphql").read_text()
    return build_schema(text, assume_valid=True)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_fits_linears_schema(name: str, corpus: Path | None) -> None:
    """Without the corpus there is only the form of it to look at."""
    document = parse(DOCUMENTS[name])
    assert isinstance(document, DocumentNode)
    problems = [] if corpus is None else validate(schema_of(corpus), document)
    assert [problem.message for problem in problems] == []


def test_all_documents_are_found() -> None:
    assert len(DOCUMENTS) == 27
