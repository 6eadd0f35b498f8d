"""One repository by exact name or default, or one of three questions."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.channel import Offer
from patchwright.core.types.threads import RepoRef, ThreadRef
from patchwright.core.types.work import QuestionReason
from patchwright.resolver.repository import (
    MAX_BUTTONS,
    ChoiceReason,
    RememberScope,
    RepositoryAccess,
    RepositoryAnswer,
    RepositoryCandidates,
    RepositoryChoice,
    choose_repository,
    is_answer,
    mapped_repository,
    read_answer,
    repository_of_tickets,
)
from patchwright.resolver.repository_references import (
    References,
    ReferenceScope,
    find_references,
)
from patchwright.resolver.visibility import Question
from tests.unit.resolver.places import PLACES, SLACK, WEB, issue, repo, ticket

PICKER = Offer(words="Find a repository", picks_repository=True)
ACCESS = {
    "acme/web": RepositoryAccess.READABLE,
    "acme/api": RepositoryAccess.READABLE,
    "acme/secret": RepositoryAccess.UNREADABLE,
}
HOW = (
    "Answer here with its name, such as `owner/name`, or with a link to it. The "
    "request is kept."
)


def judge(repo: RepoRef) -> RepositoryAccess:
    return ACCESS.get(repo.full_name, RepositoryAccess.UNKNOWN)


def refs(text: str) -> References:
    return find_references([text], PLACES)


def chosen(text: str = "fix the cart", **hints: Any) -> RepositoryChoice | Question:
    return choose_repository(
        RepositoryCandidates(request=refs(text)).replace(**hints), judge
    )


def buttons(ask: RepositoryChoice | Question) -> list[str]:
    assert isinstance(ask, Question)
    assert ask.offers[-1] == PICKER
    return [offer.command for offer in ask.offers[:-1]]


WEAKEST_FIRST: list[tuple[ChoiceReason, Mapping[str, Any]]] = [
    (ChoiceReason.OWN_DEFAULT, {"own_default": repo("acme/api")}),
    (ChoiceReason.PLACE_DEFAULT, {"place_default": repo("acme/api")}),
    (ChoiceReason.PLACE, {"place": repo("acme/api")}),
    (ChoiceReason.TICKET, {"ticket": repo("acme/api")}),
    (ChoiceReason.REQUEST, {"request": refs("in acme/api")}),
    (ChoiceReason.ANSWER, {"answers": (refs("in acme/api"),)}),
]


@pytest.mark.parametrize("rank", range(len(WEAKEST_FIRST)))
def test_a8_the_strongest_word_counts(rank: int) -> None:
    hints = RepositoryCandidates()
    for _, weaker in WEAKEST_FIRST[:rank]:
        other: dict[str, Any] = {
            name: repo("acme/web") if isinstance(value, RepoRef) else refs("acme/web")
            for name, value in weaker.items()
        }
        hints = hints.replace(**other)
    why, strongest = WEAKEST_FIRST[rank]
    found = choose_repository(hints.replace(**strongest), judge)
    assert found == RepositoryChoice(repo=repo("acme/api"), why=why)


def test_a8_the_newest_answer_that_names_one_wins() -> None:
    answers = (refs("acme/api"), refs("acme/web"), refs("thank you"))
    found = chosen("in acme/api", answers=answers)
    assert found == RepositoryChoice(repo=repo("acme/web"), why=ChoiceReason.ANSWER)


def test_a8_the_one_to_work_in_counts_before_others_that_are_named() -> None:
    found = chosen("as in acme/api#4, repo:acme/web")
    assert found == RepositoryChoice(repo=repo("acme/web"), why=ChoiceReason.REQUEST)


def test_a8_an_unknown_name_is_a_repository_if_the_person_can_read_it() -> None:
    readable = {"strange/thing": RepositoryAccess.READABLE}
    found = choose_repository(
        RepositoryCandidates(
            request=refs("fix it in strange/thing"), place=repo("acme/web")
        ),
        lambda one: readable.get(one.full_name, judge(one)),
    )
    assert found == RepositoryChoice(
        repo=repo("strange/thing"), why=ChoiceReason.REQUEST
    )


def test_a8_what_only_looks_like_a_repository_leaves_the_default() -> None:
    found = chosen("fix it in strange/thing", place=repo("acme/web"))
    assert found == RepositoryChoice(repo=repo("acme/web"), why=ChoiceReason.PLACE)


def test_s74_none_named() -> None:
    ask = chosen("fix the cart")
    assert ask == Question(
        reason=QuestionReason.NO_REPOSITORY,
        text="**Which repository?** The request names none, and there is no default "
        f"for it here.\n\n{HOW}",
        offers=(PICKER,),
    )


@pytest.mark.parametrize("name", ["acme/secret", "acme/nothing"])
def test_s74_no_access_says_the_same_whether_it_is_there_or_not(name: str) -> None:
    ask = chosen(f"fix the cart in {name}")
    assert ask == Question(
        reason=QuestionReason.NO_ACCESS,
        text=f"**`{name}` cannot be used for this request.** Either there is no such "
        "repository, or it is not open to both you and this bot.\n\n"
        f"Name another one, or ask its owner for access. {HOW}",
        offers=(PICKER,),
    )


def test_s74_several_named() -> None:
    ask = chosen(f"port acme/api#4 and {WEB}/acme/secret to acme/web")
    assert ask == Question(
        reason=QuestionReason.SEVERAL_REPOSITORIES,
        text="**Which of these repositories?** The request names 3, and one pull "
        "request is about one of them:\n\n- `acme/api`\n- `acme/secret`\n- `acme/web`"
        "\n\nAnswer here with the name of one. The request is kept.",
        offers=(
            Offer(words="acme/api", command="acme/api", is_in_text=True),
            Offer(words="acme/web", command="acme/web", is_in_text=True),
            PICKER,
        ),
    )


def test_s74_a_name_that_nothing_confirms_is_repeated_where_nothing_else_is() -> None:
    ask = chosen("fix it in strange/thing")
    assert isinstance(ask, Question)
    assert ask.reason is QuestionReason.NO_ACCESS
    assert ask.text.startswith("**`strange/thing` cannot be used")


def test_s74_access_to_a_default_is_checked_too_and_its_name_is_not_shown() -> None:
    ask = chosen(place=repo("acme/secret"), own_default=repo("acme/web"))
    assert isinstance(ask, Question)
    assert ask.reason is QuestionReason.NO_ACCESS
    assert ask.text.startswith("**The default here cannot be used")
    assert "secret" not in ask.text


def test_an_answer_that_is_nearly_a_name_is_asked_back() -> None:
    offered = ("acme/api", "acme/web")
    ask = choose_repository(RepositoryCandidates(said="wbe"), judge, offered)
    assert isinstance(ask, Question)
    assert "Did you mean `acme/web`?" in ask.text
    assert buttons(ask) == ["acme/web"]


def test_no_more_is_offered_than_there_are_buttons_for() -> None:
    offered = tuple(f"acme/r{number}" for number in range(20))
    assert buttons(choose_repository(RepositoryCandidates(), judge, offered)) == list(
        offered[:MAX_BUTTONS]
    )


NAMES = st.sampled_from(["acme/web", "acme/api", "acme/secret", "other/lib"])
DEFAULT = st.none() | NAMES.map(repo)


@given(
    texts=st.lists(NAMES, max_size=3).map(" and ".join),
    place=DEFAULT,
    place_default=DEFAULT,
    own_default=DEFAULT,
)
def test_a8_never_a_repository_that_the_person_cannot_read_or_nothing_named(
    texts: str,
    place: RepoRef | None,
    place_default: RepoRef | None,
    own_default: RepoRef | None,
) -> None:
    request = refs(f"fix {texts}")
    hints = RepositoryCandidates(
        request=request,
        place=place,
        place_default=place_default,
        own_default=own_default,
    )
    found = choose_repository(hints, judge)
    if isinstance(found, RepositoryChoice):
        assert judge(found.repo) is RepositoryAccess.READABLE
        named = request.repositories or (place, place_default, own_default)
        assert found.repo in named
        assert len(request.repositories) <= 1


def test_the_administrator_maps_channels_and_projects() -> None:
    channels = {"C1": "Acme/Web", "C2": "acme/api"}
    assert mapped_repository(SLACK, channels, PLACES) == repo("acme/web")
    assert mapped_repository(SLACK, {"T1/C1": "x/y"}, PLACES) == repo("x/y")
    assert mapped_repository(SLACK, {}, PLACES) is None
    projects = {"APP": "acme/web", "OPS": ""}
    assert mapped_repository(ticket("APP-7"), projects, PLACES) == repo("acme/web")
    assert mapped_repository(ticket("OPS-7"), projects, PLACES) is None
    assert mapped_repository(issue("acme/web", 1), projects, PLACES) is None


def test_tickets_that_a_chat_names_stand_for_their_project() -> None:
    projects = {"APP": "acme/web", "OPS": "acme/api"}
    app, ops = ticket("APP-7"), ticket("OPS-1")

    def of(*named: ThreadRef) -> RepoRef | None:
        return repository_of_tickets(SLACK, named, lambda _one: projects, PLACES)

    assert of(app, ticket("APP-8"), issue("acme/api", 1)) == repo("acme/web")
    assert of(app, ops) is None
    assert of() is None
    assert repository_of_tickets(app, [ops], lambda _one: projects, PLACES) is None


@pytest.mark.parametrize(
    ("text", "remember"),
    [
        ("acme/web", RememberScope.NOT),
        (" `acme/web`. ", RememberScope.NOT),
        ("use acme/web, please", RememberScope.NOT),
        ("repo:acme/web", RememberScope.NOT),
        (f"<{WEB}/acme/web>", RememberScope.NOT),
        (f"it's [the web shop]({WEB}/acme/web)", RememberScope.NOT),
        ("always acme/web", RememberScope.HERE),
        ("acme/web, always in this channel", RememberScope.HERE),
        ("always acme/web for me", RememberScope.FOR_ME),
    ],
)
def test_a8_a_reply_that_only_names_a_repository_is_an_answer(
    text: str, remember: RememberScope
) -> None:
    expected = RepositoryAnswer(repository=repo("acme/web"), remember=remember)
    assert read_answer(text, PLACES) == expected
    assert is_answer(text, PLACES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "web",
        "yes please",
        "acme/web, and mind the cart",
        "acme/web or acme/api",
        "src/cart.py/x",
        f"{WEB}/acme",
        "https://evil.example.com/acme/web",
        f"acme/web {'please ' * 100}",
    ],
)
def test_a8_any_other_reply_is_for_the_agent(text: str) -> None:
    assert read_answer(text, PLACES) is None
    assert not is_answer(text, PLACES)


def test_a_word_of_consent_is_an_answer() -> None:
    assert is_answer("keep it out, please", PLACES)


FRESH = ReferenceScope(forge="github", web_url=WEB)


@pytest.mark.parametrize(
    "text",
    ["fix acme/web", "please fix acme/web now", "either/or: fix acme/web and/or rest"],
)
def test_a_repository_named_exactly_is_found_where_none_is_known(text: str) -> None:
    hints = RepositoryCandidates(request=find_references([text], FRESH))
    assert choose_repository(hints, judge) == RepositoryChoice(
        repo=repo("acme/web"), why=ChoiceReason.REQUEST
    )


def test_a_repository_named_exactly_counts_before_the_default_of_the_channel() -> None:
    request = find_references(["fix acme/web"], FRESH)
    hints = RepositoryCandidates(request=request, place=repo("acme/api"))
    assert choose_repository(hints, judge) == RepositoryChoice(
        repo=repo("acme/web"), why=ChoiceReason.REQUEST
    )


def test_a_name_that_the_forge_does_not_open_to_them_is_told_back() -> None:
    hints = RepositoryCandidates(request=find_references(["fix acme/hidden"], FRESH))
    asked = choose_repository(hints, judge)
    assert isinstance(asked, Question)
    assert asked.reason is QuestionReason.NO_ACCESS
    assert "`acme/hidden` cannot be used" in asked.text


def test_words_with_a_slash_are_no_repository_that_the_forge_does_not_have() -> None:
    request = find_references(["fix the client/server and/or read/write code"], FRESH)
    hints = RepositoryCandidates(request=request, place=repo("acme/api"))
    assert choose_repository(hints, judge) == RepositoryChoice(
        repo=repo("acme/api"), why=ChoiceReason.PLACE
    )
