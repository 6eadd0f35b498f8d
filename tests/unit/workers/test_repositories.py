"""People are offered what they may read and no more, and do not wait for it."""

import threading
from collections.abc import Callable, Iterator

import pytest

from patchwright.core.types.errors import ServiceUnavailableError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.access import make_access_check
from patchwright.resolver.repository import RepositoryAccess
from patchwright.workers.plugins.repository_search import (
    MAX_CHECKED,
    MAX_OFFERED,
    RepositorySearch,
)

ALICE = Actor(service="github", login="alice", external_id="1")
READABLE = {"acme/web": Permission.READ, "acme/api": Permission.ADMIN}
NAMES = ("acme/web", "acme/secret", "acme/api")


class Forge:
    """Knows what anybody may do, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.slow: dict[str, threading.Event] = {}

    def permission(self, repo: RepoRef, person: Actor) -> Permission | None:
        assert person == ALICE
        self.asked.append(repo.full_name)
        if repo.full_name in self.slow:
            self.slow[repo.full_name].wait()
        if repo.full_name == "acme/away":
            return None
        return READABLE.get(repo.full_name, Permission.NONE)


@pytest.fixture
def forge() -> Iterator[Forge]:
    forge = Forge()
    yield forge
    for one in forge.slow.values():
        one.set()


def found_nothing(_person: Actor, _query: str) -> tuple[str, ...]:
    return ()


def search(
    forge: Forge,
    names: tuple[str, ...] = NAMES,
    by: Callable[[Actor, str], tuple[str, ...]] = found_nothing,
    within_s: float = 10.0,
) -> RepositorySearch:
    *mapped, last = names
    recent = (RepoRef(forge="github", full_name=last),)
    return RepositorySearch(
        "github",
        mapped,
        lambda: recent,
        permission=forge.permission,
        search=by,
        within_s=within_s,
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ("acme/web", "acme/api")),
        (" WEB ", ("acme/web",)),
        ("acme/", ("acme/web", "acme/api")),
        ("secret", ()),
        ("acme/away", ()),
        ("nothing", ()),
    ],
)
def test_a8_only_what_the_person_may_read_is_offered(
    forge: Forge, query: str, found: tuple[str, ...]
) -> None:
    assert search(forge).find(query, ALICE) == found


def test_a8_a_whole_name_is_asked_for_though_nobody_has_used_it(forge: Forge) -> None:
    assert search(forge, ("acme/docs",)).find("acme/api", ALICE) == ("acme/api",)
    assert forge.asked == ["acme/api"]


def test_a8_what_the_person_finds_themselves_is_not_asked_about(forge: Forge) -> None:
    found = search(forge, by=lambda _, query: (f"other/{query}", "ACME/web"))
    assert found.find("web", ALICE) == ("acme/web", "other/web")
    assert forge.asked == ["acme/web"]


def test_a8_the_name_that_was_typed_comes_first(forge: Forge) -> None:
    found = search(forge, by=lambda *_: ("acme/api-docs", "acme/api"))
    assert found.find("acme/api", ALICE) == ("acme/api", "acme/api-docs")


def test_a8_a_search_that_fails_leaves_the_rest(forge: Forge) -> None:
    def fail(person: Actor, query: str) -> tuple[str, ...]:
        raise ServiceUnavailableError(f"no {query} for {person.login}")

    assert search(forge, by=fail).find("web", ALICE) == ("acme/web",)


def test_a8_nobody_waits_for_an_answer_that_does_not_come(forge: Forge) -> None:
    forge.slow["acme/web"] = threading.Event()
    found = search(forge, within_s=0.2)
    assert found.find("acme", ALICE) == ("acme/api",)
    assert found.find("web", ALICE) == ()
    assert forge.asked.count("acme/web") == 1


def test_a8_a_forge_is_asked_only_so_much_at_once(forge: Forge) -> None:
    names = tuple(f"acme/r{number}" for number in range(50))
    search(forge, names).find("acme", ALICE)
    assert len(forge.asked) == MAX_CHECKED


def test_a8_no_more_is_offered_than_can_be_shown(forge: Forge) -> None:
    many = tuple(f"acme/r{number}" for number in range(300))
    found = search(forge, by=lambda *_: many).find("", ALICE)
    assert len(found) == MAX_OFFERED


def test_s74_access_is_checked_for_the_person(forge: Forge) -> None:
    access = make_access_check(ALICE, forge.permission)
    names = ("acme/web", "acme/secret", "acme/away")
    judged = [access(RepoRef(forge="github", full_name=name)) for name in names]
    assert judged == [
        RepositoryAccess.READABLE,
        RepositoryAccess.UNREADABLE,
        RepositoryAccess.UNKNOWN,
    ]
