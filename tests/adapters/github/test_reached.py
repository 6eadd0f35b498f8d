"""Which accounts have our App, and which repositories it reaches there."""

from patchwright.core.plugin import ReachedAccount
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import APP_ID, AppKey
from tests.fakes.github.fake import FakeGitHub


def test_the_app_tells_where_it_is_installed(
    fake: FakeGitHub, app: AppKey, as_app: GitHub
) -> None:
    fake.add_repository("bert/blog")
    fake.add_repository("bert/site")
    fake.install_app(APP_ID, "bert", ["blog", "site"])
    acme, bert = sorted(as_app.list_reached(SystemClock()), key=lambda one: one.account)
    assert acme.replace(url="") == ReachedAccount(
        account="acme", url="", count=1, repositories=("acme/shop",)
    )
    assert acme.url.endswith(str(app.installation))
    assert (bert.count, set(bert.repositories)) == (2, {"bert/blog", "bert/site"})


def test_a_token_has_no_installations(as_user: GitHub) -> None:
    assert as_user.list_reached(SystemClock()) == ()
