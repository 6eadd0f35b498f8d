"""What the posts of a pull request's reviews are called beside its comments.

The three kinds are counted apart, so that a number alone would be ambiguous.
"""

_REVIEW = "review:"
_REVIEW_COMMENT = "review-comment:"


def review_post(review_id: int) -> str:
    return f"{_REVIEW}{review_id}"


def review_comment_post(comment_id: int) -> str:
    return f"{_REVIEW_COMMENT}{comment_id}"


def review_comment_of(post_id: str) -> int | None:
    """Return the number of a comment on lines, None if the post is none."""
    return _number(post_id, _REVIEW_COMMENT)


def review_of(post_id: str) -> int | None:
    """Return the number of a review, None if the post is none."""
    return _number(post_id, _REVIEW)


def _number(post_id: str, prefix: str) -> int | None:
    rest = post_id.removeprefix(prefix)
    return int(rest) if rest != post_id and rest.isdecimal() else None
