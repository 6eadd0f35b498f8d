"""Pages that ask to sign in name the forge of this service."""

import pytest
from starlette.responses import Response

from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import Site
from patchwright.workers.web.run_page.html import missing_page

SITE = Site("", "", FormTokens(b"secret"))
LOGIN = "/auth/gitlab/login?next=%2Frequests%2Fnew"


def text_of(page: Response) -> str:
    return bytes(page.body).decode()


@pytest.mark.parametrize("title", ["GitHub", "GitLab"])
def test_the_button_names_the_forge(title: str) -> None:
    button = f'<a class="button" href="{LOGIN}">Sign in with {title}</a>'
    page = missing_page(SITE, None, LOGIN, title)
    assert page.status_code == 404
    assert button in text_of(page)


def test_where_nobody_can_sign_in_there_is_no_button() -> None:
    assert "Sign in" not in text_of(missing_page(SITE, None, "", "GitLab"))
