"""The cloud and a data center are told apart in one place, and both are served."""

from patchwright.core.types.people import Actor
from tests.adapters.jira.conftest import Scene


def test_s76_data_center_is_reached_below_its_path_with_a_bearer(
    data_center: Scene,
) -> None:
    assert data_center.fake.base_url.endswith("/jira")
    me = data_center.jira.fetch_identity()
    assert me.external_id == "patchwright-bot"
    paths = {seen.path for seen in data_center.fake.requests}
    assert paths == {"/jira/rest/api/2/myself"}


def test_cloud_is_reached_with_mail_address_and_token(cloud: Scene) -> None:
    assert cloud.jira.fetch_identity() == Actor(
        service="jira",
        login="Patchwright",
        external_id=cloud.fake.bot,
        is_bot=True,
        host=cloud.jira.api.host,
    )
    assert {seen.path for seen in cloud.fake.requests} == {"/rest/api/3/myself"}


def test_s76_person_of_a_data_center_is_known_by_name(data_center: Scene) -> None:
    post = data_center.channel.fetch_thread(data_center.ref).posts[0]
    assert (post.author.external_id, post.author.login) == ("ann", "Ann")


def test_app_is_a_bot(cloud: Scene) -> None:
    robot = cloud.fake.add_user("automation", is_app=True)
    cloud.fake.comment(cloud.key, robot, "Moved by a rule")
    assert cloud.channel.fetch_thread(cloud.ref).posts[-1].author.is_bot
