"""Every GraphQL document is one, and asks for what GitHub has."""

from functools import cache
from pathlib import Path

import pytest
from graphql import DocumentNode, GraphQLSchema, build_schema, parse, validate

from patchwright.integrations.github import reviews, threads
from patchwright.integrations.github import reviews as review_posts

DOCUMENTS = {
    "comments": threads.THREAD_QUERY,
    "opening": threads.OPENING_QUERY,
    "review words": review_posts.REVIEWS_QUERY,
    "review threads": reviews.REVIEW_THREADS_QUERY,
    "earlier comments of a review thread": reviews.EARLIER_COMMENTS_QUERY,
    "discussion": threads.DISCUSSION_QUERY,
    "discussion's name": threads.DISCUSSION_ID_QUERY,
    "discussion's HTML": threads.POST_HTML_QUERY,
    "discussion comment": threads.ADD_COMMENT,
    "discussion edit": threads.EDIT_COMMENT,
    "discussion reaction": threads.ADD_REACTION,
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
