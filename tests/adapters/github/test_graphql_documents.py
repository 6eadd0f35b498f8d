"""Every GraphQL document is one, and asks for what GitHub has."""

from functools import cache
from pathlib import Path

import pytest
from graphql import DocumentNode, GraphQLSchema, build_schema, parse, validate

from patchwright.integrations.github import discussions, posts, review_posts, reviews

DOCUMENTS = {
    "comments": posts.QUERY,
    "opening": posts.OPENING_QUERY,
    "review words": review_posts.QUERY,
    "review threads": reviews.QUERY,
    "earlier comments of a review thread": reviews.EARLIER_QUERY,
    "discussion": discussions.QUERY,
    "discussion's name": discussions.FIND,
    "discussion's HTML": discussions.HTML,
    "discussion comment": discussions.POST,
    "discussion edit": discussions.EDIT,
    "discussion reaction": discussions.REACT,
}


@cache
def schema_of(corpus: Path) -> GraphQLSchema:
    text = (corpus / "github" / "schema.graphql").read_text()
    return build_schema(text, assume_valid=True)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_fits_githubs_schema(name: str, corpus: Path | None) -> None:
    """Without the corpus there is only the form of it to look at."""
    document = parse(DOCUMENTS[name])
    assert isinstance(document, DocumentNode)
    problems = [] if corpus is None else validate(schema_of(corpus), document)
    assert [problem.message for problem in problems] == []
