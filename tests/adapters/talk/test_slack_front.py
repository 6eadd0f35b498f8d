"""Fields, forms and the home tab of Slack are answered for who is known."""

from dataclasses import replace

import pytest

from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    HomeRequest,
    OptionsRequest,
)
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.compose import SlackInteractionHandler
from patchwright.integrations.slack.views import options_of
from patchwright.workers.db.tables import choices as choices_kept
from patchwright.workers.plugins.host import PersonPages
from patchwright.workers.plugins.people import PersonDirectory
from patchwright.workers.plugins.repository_search import RepositorySearch
from patchwright.workers.store.choices import ChoiceStore
from tests.adapters.slack.conftest import Office
from tests.adapters.store.linking_world import Linking
from tests.adapters.store.world import World
from tests.adapters.talk.conftest import people_of, settings_of
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.render.interactions import new_trigger

ALICE = Actor(service="github", login="alice", external_id="1")
SECRET = "acme/secret"


def permission(repo: RepoRef, person: Actor) -> Permission:
    is_open = person.login == "alice" and repo.full_name != SECRET
    return Permission.READ if is_open else Permission.NONE


@pytest.fixture
def choices(world: World) -> ChoiceStore:
    return ChoiceStore(world.database)


@pytest.fixture
def pages(people: PersonDirectory, choices: ChoiceStore, world: World) -> PersonPages:
    search = RepositorySearch(
        "github",
        ("acme/web", "acme/api", SECRET),
        tuple,
        permission=permission,
        search=lambda _person, _query: (),
    )
    return PersonPages(
        people,
        choices,
        world.jobs,
        search,
        lambda job_id, _at: f"https://bot.test/runs/{job_id}",
        world.clock,
    )


@pytest.fixture
def front(slack: Slack, pages: PersonPages) -> SlackInteractionHandler:
    return SlackInteractionHandler(slack, pages)


def link(linking: Linking, office: Office) -> None:
    linking.link(ALICE, office.actor(office.ann))


def test_a_person_is_offered_what_they_may_read(
    front: SlackInteractionHandler, office: Office, linking: Linking
) -> None:
    link(linking, office)
    asked = OptionsRequest(actor=office.actor(office.ann), query="ac")
    assert front.answer(asked) == options_of(("acme/web", "acme/api"))


def test_who_is_not_known_is_offered_nothing(
    front: SlackInteractionHandler, office: Office
) -> None:
    asked = OptionsRequest(actor=office.actor(office.bob), query="ac")
    assert front.answer(asked) == options_of(())


def test_a_default_is_kept_and_taken_back_and_shown(
    front: SlackInteractionHandler,
    pages: PersonPages,
    office: Office,
    linking: Linking,
    fake: FakeSlack,
) -> None:
    link(linking, office)
    scope, choices = pages.people.scope_of(ALICE), pages.choices
    chosen = DefaultChosen(
        actor=office.actor(office.ann),
        repository="acme/web",
        installation=office.team,
    )
    assert front.answer(chosen) == {}
    web = RepoRef(forge="github", full_name="acme/web")
    assert choices.default_of(scope) == web
    front.follow(chosen)
    assert "acme/web" in str(fake.home(office.ann).view)
    back = chosen.replace(repository="")
    front.answer(back)
    assert choices.default_of(scope) is None
    front.follow(back)
    assert "acme/web" not in str(fake.home(office.ann).view)


def test_who_is_not_known_has_no_default(
    front: SlackInteractionHandler, office: Office, world: World
) -> None:
    actor = office.actor(office.bob)
    front.answer(DefaultChosen(actor=actor, repository="acme/web"))
    assert world.rows(choices_kept) == []


def test_the_home_tab_lists_ones_own_runs(
    front: SlackInteractionHandler,
    office: Office,
    linking: Linking,
    fake: FakeSlack,
) -> None:
    link(linking, office)
    job_id = linking.ask(office.actor(office.ann), "1.1")
    linking.ask(office.actor(office.bob), "2.2")
    wanted = HomeRequest(actor=office.actor(office.ann), installation=office.team)
    assert front.answer(wanted) == {}
    front.follow(wanted)
    shown = fake.home(office.ann).shown
    assert "linked to *alice*" in shown
    assert shown.count("It is broken") == 1
    assert f"https://bot.test/runs/{job_id}" in shown


def test_the_home_tab_of_somebody_unknown_says_how_to_link(
    front: SlackInteractionHandler, office: Office, fake: FakeSlack
) -> None:
    front.follow(HomeRequest(actor=office.actor(office.bob), installation=office.team))
    assert "Your account is not linked" in fake.home(office.bob).shown


def wanted_form(office: Office, handle: str) -> FormRequest:
    return FormRequest(
        actor=office.actor(office.ann),
        handle=handle,
        thread=office.thread("1.1"),
        command="budget",
        asks="How much more?",
        installation=office.team,
    )


def test_a_form_opens_for_who_pressed_the_button(
    front: SlackInteractionHandler, office: Office, fake: FakeSlack
) -> None:
    form = wanted_form(office, new_trigger(fake.world, office.ann))
    assert front.answer(form) == {}
    front.follow(form)
    assert "How much more?" in fake.form(office.ann).shown


def test_a_form_that_comes_too_late_breaks_nothing(
    front: SlackInteractionHandler, office: Office, fake: FakeSlack
) -> None:
    front.follow(wanted_form(office, "1.2.too-late"))
    assert fake.world.forms == []


def test_options_need_nothing_more(
    front: SlackInteractionHandler, office: Office
) -> None:
    front.follow(OptionsRequest(actor=office.actor(office.ann), query="x"))


def test_a_map_serves_as_well_as_a_link(
    front: SlackInteractionHandler,
    pages: PersonPages,
    office: Office,
    linking: Linking,
) -> None:
    mapped = f'[{{"slack": "{office.team}/{office.ann}", "github": "alice"}}]'
    known = people_of(linking, settings_of(ACCOUNTS__MAP=mapped))
    asked = OptionsRequest(actor=office.actor(office.ann), query="web")
    by_map = SlackInteractionHandler(front.slack, replace(pages, people=known))
    assert by_map.answer(asked) == options_of(("acme/web",))
