"""Texts may refer to what is mapped, and to where work was done before."""

from patchwright.core.types.threads import RepoRef
from patchwright.integrations.registry import describe_services
from patchwright.resolver.repository_references import ReferenceScope, TrackerScope
from patchwright.workers.plugins.people import find_places
from tests.adapters.store.world import World
from tests.adapters.talk.conftest import settings_of

CHANNELS = '{"C1": "acme/web", "C2": "acme/api", "C3": ""}'
PROJECTS = '{"APP": "acme/web", "OPS": ""}'


def test_each_repository_is_known_once_the_mapped_ones_first(world: World) -> None:
    world.ask()
    settings = settings_of(
        SLACK__CHANNELS=CHANNELS,
        JIRA__PROJECTS='{"APP": "acme/shop", "OPS": ""}',
        JIRA__BASE_URL="https://tools.example/jira",
    )
    assert find_places(world.threads, describe_services(settings)) == ReferenceScope(
        forge="github",
        web_url="https://github.test",
        known=("acme/web", "acme/api", "acme/shop"),
        trackers=(
            TrackerScope(
                service="jira",
                url="https://tools.example/jira",
                host="tools.example/jira",
                projects=("APP", "OPS"),
            ),
        ),
    )


def test_without_jira_no_key_means_anything(world: World) -> None:
    settings = settings_of()
    places = find_places(world.threads, describe_services(settings))
    assert (places.trackers, places.known) == ((), ())


def test_places_without_a_repository_map_to_none() -> None:
    settings = settings_of(SLACK__CHANNELS=CHANNELS, JIRA__PROJECTS=PROJECTS)
    assert describe_services(settings).mapped_repositories == ("acme/web", "acme/api")


def test_where_work_was_done_is_remembered(world: World) -> None:
    assert world.threads.newest_repositories("github") == ()
    world.ask()
    shop = RepoRef(forge="github", full_name="acme/shop")
    assert world.threads.newest_repositories("github") == (shop,)
