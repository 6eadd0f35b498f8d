"""What was said in private does not come through, whatever the agent wrote."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.resolver.publish.redaction import (
    OMISSION,
    QUOTED_WORDS,
    PrivateMatter,
    collect_private_matter,
    find_in_name,
    redact_text,
    redact_title,
)

SAID = (
    "Our customer Initech cannot check out since Monday, their cart shows minus three "
    "items; see https://wiki.corp.example/incidents/7?focus=2 or ask "
    "jane.doe@corp.example."
)
WEB = "https://github.com/acme/web"


def kept(text: str, *texts: str, **more: object) -> str:
    return redact_text(text, matter(*texts, **more))


def matter(*texts: str, **more: object) -> PrivateMatter:
    return collect_private_matter(texts or (SAID,), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "customer Initech cannot check out since Monday, their",
        "CUSTOMER initech: cannot check - out\nsince **Monday**; their",
        "customer\u200b Initech can\u200bnot check out since Monday their",
        "customer \uff29nitech cannot check out since Monday, their",
    ],
)
def test_c7_a_quotation_is_left_out_however_it_is_written(text: str) -> None:
    assert kept(f"Fixed: {text}!") == f"Fixed: {OMISSION}!"


def test_c7_a_longer_quotation_is_left_out_as_a_whole() -> None:
    quoted = SAID.partition(";")[0]
    assert kept(f"They said “{quoted}”.") == f"They said “{OMISSION}”."


def test_c7_so_few_words_are_how_anybody_would_say_it() -> None:
    text = "The cart shows minus three items; people cannot check out."
    assert kept(text) == text


def test_c7_a_name_in_the_middle_does_not_save_the_rest_of_a_quotation() -> None:
    text = "customer Initech cannot check out since Monday their"
    assert kept(text, SAID, names=["Initech"]) == OMISSION


def test_c7_what_is_left_beside_a_cut_is_looked_at_again() -> None:
    text = "one two three four five six seven eight"
    assert kept(f"{text}https://a.example", text, "https://a.example") == 2 * OMISSION


@pytest.mark.parametrize(
    "address",
    [
        "jane.doe@corp.example",
        "Jane.Doe@CORP.example",
        "https://wiki.corp.example/incidents/7",
        "https://wiki.corp.example/incidents/7?focus=3#top",
        "HTTPS://wiki.corp.example/incidents/7/",
    ],
)
def test_c7_addresses_from_there_are_left_out(address: str) -> None:
    shown = kept(f"See ({address}), please.")
    assert shown.replace("/", "") == f"See ({OMISSION}), please."


def test_c7_other_addresses_stay() -> None:
    text = "See https://wiki.corp.example/incidents/8 or joe@corp.example."
    assert kept(text) == text


def test_c7_whatever_is_on_the_private_service_is_left_out() -> None:
    text = "From https://acme.slack.com/archives/C1/p1, acme.slack.com and APP-7."
    shown = kept(text, "x", hosts=["acme.slack.com"], names=["APP-7"])
    assert shown == f"From {OMISSION}, {OMISSION} and {OMISSION}."


def test_c7_links_into_the_public_repository_stay() -> None:
    text = f"See {WEB}/issues/5 and {WEB}."
    assert kept(text, text, public_url=WEB) == text
    assert kept(text, text) == f"See {OMISSION} and {OMISSION}."


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("jdoe", "As jdoe says, and @JDoe.", "As […] says, and […]."),
        ("Jane Doe", "Jane  Doe, Jane and jane", "[…], […] and jane"),
        ("#incidents", "incidents from #Incidents", "incidents from […]"),
        ("#acme-launch", "for acme-launch", "for […]"),
        ("APP-7", "fixes app-7, not APP-71", "fixes […], not APP-71"),
        ("Will", "Will it stop, @will?", "Will it stop, […]?"),
        ("Jo", "Jo says, @Jo says", "Jo says, […] says"),
        ("[…]", "left out: […]", "left out: […]"),
    ],
)
def test_c7_names_are_left_out(name: str, text: str, shown: str) -> None:
    assert kept(text, "x", names=[name]) == shown


def test_c7_whoever_is_addressed_there_is_left_out() -> None:
    said = "@Maria and @sam, look at `@dataclass` and @channel"
    text = "maria wants it, @sam too; sam, @dataclass, @channel"
    shown = "[…] wants it, […] too; sam, @dataclass, @channel"
    assert kept(text, said) == shown


def test_c7_where_there_are_no_blanks_each_character_is_a_word() -> None:
    said = "我们的客户无法结账购物车是空的"
    assert kept("修复 客户无法结账购物车", said) == f"修复 {OMISSION}"


def test_what_is_not_private_is_not_touched() -> None:
    text = "Count **every** item:\n\n- `cart.sum()`\n- see #7\n"
    assert kept(text) == text
    assert redact_text(text, collect_private_matter(())) == text


WORDS = st.lists(
    st.sampled_from(["a", "b", "c", "d", "ab", "Ab", "https://a.b", "x@a.bc"])
)
MAIL = re.compile(r"(?<![\w-])x@a\.bc(?!\w)")
SEPARATOR = st.sampled_from([" ", "\n", ", ", "-", "_", " **"])


TOLD = "The Bluebird layoffs hit Berlin office on Tuesday, fix src/shop/cart.py for it."


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Bluebird layoffs hit Berlin office", OMISSION),
        ("Handle BLUEBIRD: layoffs-hit in the cart", f"Handle {OMISSION} in the cart"),
        ("Count every piece in the office", "Count every piece in the office"),
        ("Fix src/shop/cart.py", "Fix src/shop/cart.py"),
        ("Say it for it", "Say it for it"),
    ],
)
def test_m15_a_title_quotes_less_than_a_text_may(title: str, shown: str) -> None:
    assert redact_title(title, matter(TOLD)) == shown


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        ("bluebird_layoffs_hit/a.txt", True),
        ("docs/berlin-office/on.tuesday", True),
        ("src/shop/cart.py", False),
        ("tests/test_cart.py", False),
    ],
)
def test_m15_the_name_of_a_file_quotes_less_too(path: str, *, is_found: bool) -> None:
    assert any(find_in_name(path, matter(TOLD))) is is_found


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Make texts of so few words that they have rows of them in common."""
    return "".join(word + draw(SEPARATOR) for word in draw(WORDS))


def rows(text: str) -> set[tuple[str, ...]]:
    """Return the rows of words, found in the plainest way."""
    found: set[tuple[str, ...]] = set()
    for piece in text.split(OMISSION):
        words = re.findall(r"https://[^\s]+|[a-z]+", piece.lower())
        starts = range(len(words) - QUOTED_WORDS + 1)
        found |= {tuple(words[one : one + QUOTED_WORDS]) for one in starts}
    return found


@given(private=texts(), text=texts(), name=st.sampled_from(["", "abc", "Ab"]))
def test_c7_nothing_private_is_left(private: str, text: str, name: str) -> None:
    known = matter(private, names=[name])
    shown = redact_text(text, known)
    assert not rows(shown) & rows(private)
    if MAIL.search(private):
        assert "x@a.bc" not in shown
    assert redact_text(shown, known) == shown


@given(private=texts(), text=texts())
def test_c7_everything_else_is_left(private: str, text: str) -> None:
    shown = redact_text(text, matter(private))
    pieces = "(?:.*)".join(re.escape(piece) for piece in shown.split(OMISSION))
    assert re.fullmatch(pieces, text, re.DOTALL)


@given(st.text(), st.text(), st.text())
def test_c7_any_text_and_any_name_can_be_checked(
    private: str, text: str, name: str
) -> None:
    known = matter(private, names=[name], hosts=[name])
    assert redact_text(redact_text(text, known), known) == redact_text(text, known)
