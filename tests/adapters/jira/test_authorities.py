"""A Jira whose certificate a private authority has signed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from patchwright.core.types.errors import ServiceError
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.integrations.jira.settings import JiraSettings
from tests.adapters.jira.conftest import Scene
from tests.fakes.tls import Authority, make_authority, tls_before

PICTURE = ("a.png", "image/png", b"\x89PNG\r\n\x1a\n")


@dataclass(frozen=True)
class Secure:
    """A data center behind TLS."""

    scene: Scene
    authority: Authority

    def settings(self, ca_bundle: str) -> JiraSettings:
        base_url = self.scene.fake.world.base_url
        return self.scene.fake.settings(base_url=base_url, ca_bundle=ca_bundle)


@pytest.fixture
def secure(data_center: Scene, tmp_path: Path) -> Iterator[Secure]:
    authority = make_authority(tmp_path, "ours")
    parts = urlsplit(data_center.fake.base_url)
    target = (parts.hostname or "", parts.port or 0)
    with tls_before(target, authority) as address:
        data_center.fake.world.base_url = f"{address}/jira"
        yield Secure(data_center, authority)


def test_answers_and_files_come_from_a_trusted_authority(secure: Secure) -> None:
    scene, settings = secure.scene, secure.settings(str(secure.authority.bundle))
    file_id = scene.fake.attach(scene.key, scene.ann, PICTURE)
    url = f"{settings.base_url}/secure/attachment/{file_id}/a.png"
    with closing(connect_jira(settings, scene.clock)) as jira:
        assert jira.fetch_identity().login == "Patchwright"
        assert jira.channel.fetch_attachment(scene.ref, url, 99) == PICTURE[2]


def test_authority_that_is_not_trusted_is_named_with_its_remedy(
    secure: Secure,
) -> None:
    with (
        closing(connect_jira(secure.settings(""), secure.scene.clock)) as jira,
        pytest.raises(ServiceError, match=r"set jira\.ca_bundle"),
    ):
        jira.fetch_identity()
