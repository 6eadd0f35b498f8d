"""A secret in pieces does not get out in pieces."""

import base64
import json
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchwright.core.text.redaction import MAX_HELD, REDACTED, RedactedStream, Redactor

SECRET = 'correct horse "battery" staple'
TOKEN = "ghp_" + "a1B2" * 9
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + ("abcDEF123+/=" * 5 + "\n") * 20
    + "-----END RSA PRIVATE KEY-----\n"
)
FORMS = (
    SECRET,
    json.dumps(SECRET),
    quote(SECRET),
    SECRET.encode().hex(),
    base64.b64encode(b"x" + SECRET.encode() + b"y").decode(),
    base64.encodebytes(b"x" * 50 + SECRET.encode() + b"y" * 40).decode(),
    SECRET.encode().hex(" ", 2),
    "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    TOKEN,
    KEY,
    json.dumps(KEY),
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "Authorization: Basic dXNlcjpwYXNz",
    "authorization : bearer  abcdef0123456789",
    "https://user:hunter2hunter2@host/path",
)
PIECES = st.lists(
    st.one_of(
        st.sampled_from(FORMS),
        st.text(alphabet="ab c\n\t-=@:/._\"'", max_size=12),
        st.sampled_from([" ", "\n", "correct horse ", "ghp_", "-----BEGIN ", "Bearer"]),
    ),
    max_size=8,
)
CUTS = st.lists(st.integers(0, 2_000), max_size=12)


def redacted(redactor: Redactor, chunks: Sequence[str]) -> str:
    stream = RedactedStream(redactor)
    return "".join([*map(stream.feed, chunks), stream.close()])


def cut_up(text: str, cuts: Sequence[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


@example([SECRET, "Authorization: Basic dXNlcjpwYXNz", SECRET], [])
@given(PIECES, CUTS)
@example([f"x {SECRET} y"], [1, 5, 9])
# A header that is known as one only when what touches it is blotted.
@example([FORMS[7], "Authorization: Basic dXNlcjpwYXNz", SECRET], [])
@example(["AIza" + "b3" * 17 + "c", "Authorization: Basic dXNlcjpwYXNz", SECRET], [])
def test_the_pieces_are_together_what_the_whole_would_be(
    pieces: list[str], cuts: list[int]
) -> None:
    text, redactor = "".join(pieces), Redactor([SECRET])
    assert redacted(redactor, cut_up(text, cuts)) == redactor.redact(text)


@pytest.mark.parametrize(
    "wrapped",
    [
        base64.encodebytes(b"x" * 50 + SECRET.encode() + b"y" * 40).decode(),
        "\n".join(SECRET.encode().hex("\n", 4).split("\n")),
        (
            '00000000: 636f 7272 6563 7420 686f 7273 6520 2262  correct horse "b\n'
            '00000010: 6174 7465 7279 2220 7374 6170 6c65       attery" staple\n'
        ),
    ],
)
def test_l6_digits_on_several_lines_do_not_get_out_line_by_line(wrapped: str) -> None:
    text = f"before\n{wrapped}after it\n"
    redactor = Redactor([SECRET])
    whole = redactor.redact(text)
    assert REDACTED in whole
    assert redacted(redactor, text.splitlines(keepends=True)) == whole
    assert redacted(redactor, list(text)) == whole


@given(
    st.text(min_size=6, max_size=20).filter(lambda text: len(text.strip()) >= 6),
    st.text(max_size=20),
    st.text(max_size=20),
    CUTS,
)
def test_no_value_gets_out_wherever_it_is_cut(
    secret: str, before: str, after: str, cuts: list[int]
) -> None:
    text = before + secret + after
    value = secret.strip()
    assert value not in redacted(Redactor([secret]), cut_up(text, cuts))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_when_it_comes_letter_by_letter(form: str) -> None:
    redactor = Redactor([SECRET])
    text = f"before {form} after"
    assert redacted(redactor, list(text)) == redactor.redact(text)
    assert REDACTED in redactor.redact(text)


def test_a_word_is_seen_when_it_ends() -> None:
    stream = RedactedStream(Redactor([SECRET]))
    assert stream.feed("hello wor") == "hello "
    assert stream.feed("ld and ") == "world and "
    assert stream.feed("correct ") == ""
    assert stream.feed("answers\n") == "correct answers\n"
    assert stream.close() == ""


def test_a_word_without_end_is_not_kept_for_ever() -> None:
    stream = RedactedStream(Redactor([SECRET]))
    text = "ab" * MAX_HELD
    seen = "".join(
        stream.feed(text[at : at + 1_000]) for at in range(0, len(text), 1_000)
    )
    assert len(text) - len(seen) <= MAX_HELD
    assert seen + stream.close() == text


@pytest.mark.parametrize(
    ("endless", "after"),
    [
        ("ghp_" + "a1B2" * MAX_HELD, " after"),
        ("-----BEGIN PRIVATE KEY-----\n" + "a1B2" * MAX_HELD, "(after)"),
    ],
)
def test_a_token_without_end_is_left_out_to_its_end(endless: str, after: str) -> None:
    stream = RedactedStream(Redactor())
    text = f"before {endless}{after}"
    chunks = [text[at : at + 1_000] for at in range(0, len(text), 1_000)]
    seen = "".join([*map(stream.feed, chunks), stream.close()])
    assert seen == f"before {REDACTED}{after}"
