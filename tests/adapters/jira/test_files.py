"""Files are fetched with our rights, and our credential goes nowhere else."""

import pytest

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from patchwright.integrations.jira.channel import attachment_of
from tests.adapters.jira.conftest import Scene

LOG = ("out.log", "text/plain", b"x" * 1000)
SITE = "https://jira.corp.example/jira"


def url_of(scene: Scene, file_id: str) -> str:
    if scene.fake.world.is_cloud:
        return f"{scene.fake.base_url}/rest/api/3/attachment/content/{file_id}"
    return f"{scene.fake.base_url}/secure/attachment/{file_id}/out.log"


def test_file_is_read_where_jira_keeps_it(scene: Scene) -> None:
    file_id = scene.fake.attach(scene.key, scene.ann, LOG)
    data = scene.channel.fetch_attachment(scene.ref, url_of(scene, file_id), 1000)
    assert data == LOG[2]


def test_too_large_file_is_not_read_to_its_end(scene: Scene) -> None:
    file_id = scene.fake.attach(scene.key, scene.ann, LOG)
    with pytest.raises(InvalidRequestError, match="larger"):
        scene.channel.fetch_attachment(scene.ref, url_of(scene, file_id), 999)


def test_file_of_another_ticket_is_not_opened(scene: Scene) -> None:
    scene.fake.add_project("HR")
    other = scene.fake.create("HR", scene.ann, "Salaries")
    scene.fake.attach(scene.key, scene.ann, LOG)
    file_id = scene.fake.attach(other, scene.ann, LOG)
    with pytest.raises(NotFoundError):
        scene.channel.fetch_attachment(scene.ref, url_of(scene, file_id), 1000)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/secure/attachment/1/a.png",
        "http://jira.corp.example/jira/secure/attachment/1/a.png",
        "https://jira.corp.example/secure/attachment/1/a.png",
        "https://jira.corp.example/jira-evil/secure/attachment/1/a.png",
        "https://jira.corp.example:444/jira/secure/attachment/1/a.png",
        "https://u:p@jira.corp.example/jira/secure/attachment/1/a.png",
        "https://jira.corp.example/jira/rest/api/2/myself",
        "https://jira.corp.example/jira/secure/attachment/1x/a.png",
        "https://[jira/secure/attachment/1/a.png",
        "",
    ],
)
def test_other_addresses_are_no_files_of_this_jira(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        attachment_of(SITE, url)


def test_both_forms_of_address_are_files() -> None:
    assert attachment_of(SITE, f"{SITE}/secure/attachment/17/a%20b.png") == "17"
    assert attachment_of(SITE, f"{SITE}/rest/api/3/attachment/content/18") == "18"


def test_endless_redirects_end(cloud: Scene) -> None:
    file_id = cloud.fake.attach(cloud.key, cloud.ann, LOG)
    url = url_of(cloud, file_id)
    cloud.fake.fail_next("GET", "content", 303, headers={"Location": url}, times=9)
    with pytest.raises(ServiceUnavailableError):
        cloud.channel.fetch_attachment(cloud.ref, url, 1000)
