"""Nobody is sent to another host after they have signed in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.workers.web.sign_in import local_path


@pytest.mark.parametrize(
    "path", ["/", "/runs/4f", "/runs/4f?before=20&kind=a%20b", "/a//b", "/runs/#end"]
)
def test_a_path_of_ours_is_kept(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "elsewhere",
    [
        "",
        "runs/4f",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example/runs",
        "https:/evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "/runs\r\nSet-Cookie: a=b",
        "/runs\n",
        " /runs",
    ],
)
def test_what_leads_elsewhere_is_dropped(elsewhere: str) -> None:
    assert local_path(elsewhere) == ""


@given(st.text(alphabet="/\\:.@?#a\t\n "))
def test_what_is_kept_stays_on_the_host(text: str) -> None:
    kept = local_path(text)
    assert kept in {"", text}
    assert not kept.startswith(("//", "/\\"))
    assert not set(kept) & set("\\\t\n ")
