"""A repository is what a text names exactly, and nothing that looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.threads import ThreadKind, ThreadRef
from patchwright.resolver.repository_references import (
    ReferenceScope,
    TrackerScope,
    find_references,
    suggest_names,
)
from tests.unit.resolver.places import PLACES, WEB, issue, repo, ticket

PULL = issue("acme/web", 12).replace(kind=ThreadKind.PULL_REQUEST)


def named(text: str, places: ReferenceScope = PLACES) -> list[str]:
    found = find_references([text], places).repositories
    return [one.full_name for one in found]


def threads(text: str) -> list[ThreadRef]:
    return list(find_references([text], PLACES).threads)


@pytest.mark.parametrize(
    "text",
    [
        "fix the cart in acme/web.",
        "fix the cart in ACME/Web, please",
        "(acme/web) the cart is empty",
        "**acme/web**: the cart is empty",
        "repo:acme/web the cart is empty",
        "Repository: acme/web the cart is empty",
        "acme/web",
        "`acme/web`",
        f"see {WEB}/acme/web",
        f"see <{WEB}/acme/web>.",
        f"see [the shop]({WEB}/acme/web)",
        f"see {WEB}/acme/web/blob/main/src/cart.py#L3-L9",
        f"see {WEB}/acme/web/issues",
        f"see {WEB}/acme/web.git",
        f"see {WEB.replace('https', 'http')}/acme/web?tab=readme",
        "see git.acme.dev/acme/web/tree/main",
        "clone git@git.acme.dev:acme/web.git",
        "直して acme/web を",
        "请修复acme/web的购物车",
    ],
)
def test_a8_each_way_to_name_a_repository_is_read(text: str) -> None:
    assert named(text) == ["acme/web"]


@pytest.mark.parametrize(
    "text",
    [
        "the cart is empty",
        "fix src/cart.py and a/b",
        "acme/web/src/cart.py is wrong",
        "src/acme/web is wrong",
        "my-acme/web is wrong",
        "either/or, client/server, 24/7",
        "fix the cart in `acme/web`, it is empty",
        "```\nacme/web\n```\nfix it",
        "> in acme/web\n> and acme/api\n\nfix it",
        "> in acme/web\nand acme/api",
        "<!-- acme/web --> fix it",
        "mail it to me@acme/web or x.acme/web",
        "acme/web@v2 acme/web:latest acme/web.x/y",
        "https://evil.example.com/acme/web",
        f"https://evil.example.com/?to={WEB}/acme/web",
        "https://git.acme.dev.evil.org/acme/web",
        f"{WEB}/orgs/acme",
        f"{WEB}/settings/tokens",
        f"{WEB}/acme",
        "acme web, or acme",
    ],
)
def test_a8_nothing_else_is_a_repository(text: str) -> None:
    assert named(text) == []


def test_s74_an_unknown_repository_of_a_known_owner_was_meant() -> None:
    assert named("fix it in acme/secret") == ["acme/secret"]


def test_a8_an_unknown_name_counts_where_it_can_be_nothing_else() -> None:
    assert named("strange/thing") == ["strange/thing"]
    assert named("repo:strange/thing fix it") == ["strange/thing"]
    assert named("strange/thing#4 is broken") == ["strange/thing"]
    assert named(f"{WEB}/strange/thing is broken") == ["strange/thing"]


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("fix it in strange/thing", ["strange/thing"]),
        ("strange/thing is broken", ["strange/thing"]),
        ("use the strange/thing", ["strange/thing"]),
        ("it is either/or", []),
        ("fix it in src/cart", []),
        ("fix it in strange/cart.py", []),
        ("fix it in strange/thing/more", []),
        ("fix it in acme/web", []),
    ],
)
def test_a8_what_may_be_a_path_is_only_possible(text: str, possible: list[str]) -> None:
    found = find_references([text], PLACES)
    assert [one.full_name for one in found.possible] == possible
    assert not set(found.possible) & set(found.repositories)


def test_a8_a_repository_that_is_named_as_the_one_to_work_in_is_told_apart() -> None:
    found = find_references(["as in acme/api, repo:acme/web"], PLACES)
    assert found.repositories == (repo("acme/api"), repo("acme/web"))
    assert found.meant == (repo("acme/web"),)


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        ("acme/web#12 is back", issue("acme/web", 12)),
        (f"{WEB}/acme/web/issues/12#issuecomment-9", issue("acme/web", 12)),
        (f"see [#12]({WEB}/acme/web/pull/12/files)", PULL),
        ("APP-7 is back", ticket("APP-7")),
        ("(see APP-7).", ticket("APP-7")),
        ("https://acme.atlassian.net/browse/APP-7?focusedId=3", ticket("APP-7")),
        (
            "https://acme.atlassian.net/jira/projects/APP/boards/1?selectedIssue=APP-7",
            ticket("APP-7"),
        ),
    ],
)
def test_k1_each_way_to_name_a_thread_is_read(text: str, thread: ThreadRef) -> None:
    assert threads(text) == [thread]


@pytest.mark.parametrize(
    "text",
    [
        "#12",
        "acme/web#0",
        "acme/web#12a",
        "WEB-7 and UTF-8",
        "app-7",
        "feature/APP-7-x APP-7x XAPP-7 APP-07 APP-7.5",
        "`APP-7`",
        "https://evil.atlassian.net/browse/APP-7",
        "https://acme.atlassian.net/browse/WEB-7",
    ],
)
def test_s19_nothing_else_counts_as_a_thread(text: str) -> None:
    assert threads(text) == []


def test_k1_tickets_of_a_site_below_a_path_are_found() -> None:
    [jira] = PLACES.trackers
    below = "jira.corp.example/jira"
    places = PLACES.replace(
        trackers=(jira.replace(url=f"https://{below}", host=below),)
    )
    found = find_references(["https://jira.corp.example/jira/browse/app-7"], places)
    assert [str(one) for one in found.threads] == [
        "jira:jira.corp.example/jira/APP#APP-7"
    ]


def test_keys_of_every_configured_tracker_are_read() -> None:
    linear = TrackerScope(
        service="linear",
        url="https://linear.app/acme",
        host="acme",
        projects=("eng", "Web Shop", "OPS"),
    )
    places = PLACES.replace(trackers=(*PLACES.trackers, linear))
    text = (
        "APP-7, ENG-12, OPS-3 and UTF-8, https://linear.app/acme/issue/eng-4/wrong-sum "
        "and https://linear.app/acme/issue/OPS-5, https://linear.app/other/issue/ENG-6"
    )
    assert [str(one) for one in find_references([text], places).threads] == [
        "jira:acme.atlassian.net/APP#APP-7",
        "linear:acme/ENG#ENG-12",
        "jira:acme.atlassian.net/OPS#OPS-3",
        "linear:acme/ENG#ENG-4",
        "linear:acme/OPS#OPS-5",
    ]


def test_a8_each_is_named_once_in_the_order_of_the_texts() -> None:
    texts = ["acme/api and other/lib", f"ACME/API again, {WEB}/acme/web, APP-7, APP-7"]
    found = find_references(texts, PLACES)
    names = [one.full_name for one in found.repositories]
    assert names == ["acme/api", "Other/Lib", "acme/web"]
    assert found.threads == (ticket("APP-7"),)


def test_escapes_of_markdown_are_not_part_of_a_name() -> None:
    places = PLACES.replace(known=("acme/my_web",))
    assert named(r"fix it in acme/my\_web", places) == ["acme/my_web"]


BEFORE = st.from_regex(r"[A-Za-z0-9/@.-]*[A-Za-z0-9/@.-]", fullmatch=True)
AFTER = st.from_regex(r"(\.?[A-Za-z0-9]|[/@-])[A-Za-z0-9/@.-]*", fullmatch=True)
AROUND = st.tuples(BEFORE, st.just("")) | st.tuples(st.just(""), AFTER)


@given(AROUND)
def test_a8_a_part_of_a_longer_word_is_never_a_repository(
    around: tuple[str, str],
) -> None:
    before, after = around
    assert "acme/web" not in named(f"x {before}acme/web{after} y")


@given(
    st.lists(st.sampled_from(["acme/web", "acme/api", "fix", "`", ">", "\n", "a/b"]))
)
def test_a8_whatever_is_found_is_known(words: list[str]) -> None:
    text = f"x {' '.join(words)}"
    assert set(named(text)) <= {"acme/web", "acme/api"}


def test_names_like_one_are_suggested() -> None:
    assert suggest_names("wbe", PLACES.known) == ("acme/web",)
    assert suggest_names("acme/wbe", PLACES.known) == ("acme/web",)
    assert suggest_names("lib", PLACES.known) == ("Other/Lib",)
    assert suggest_names("something else", PLACES.known) == ()
    assert suggest_names("web", ()) == ()
