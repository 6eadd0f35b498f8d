"""What `resolve` is to work on, in all the forms that people type."""

from pathlib import Path

import pytest

from patchwright.core.plugin import ServiceProfile
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.registry import find_forge
from patchwright.integrations.settings import load_settings
from patchwright.workers.cli.checkout import (
    ForgeRemote,
    RemoteAddress,
    choose_remote,
    read_address,
    read_repository,
)
from patchwright.workers.cli.resolve_command import TypedTarget
from patchwright.workers.cli.target import (
    FORMS,
    NumberTarget,
    TextTarget,
    UrlTarget,
    choose_forge,
    locate_thread,
    read_target,
)
from tests.fakes.github.bare import git

HERE = Path()
URL = "https://github.com/acme/shop/issues/7"
FORGE = ServiceProfile(
    name="github", title="GitHub", is_configured=True, web_url="https://github.com"
)
ONE_WORD = (
    "refactor is not a number or a URL, and a task has several words. The forms are:\n"
    + FORMS
)


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        (TypedTarget("7"), NumberTarget(7, "", HERE)),
        (TypedTarget("#7"), NumberTarget(7, "", HERE)),
        (TypedTarget(issue="7"), NumberTarget(7, "", HERE)),
        (TypedTarget("7", folder=Path("x")), NumberTarget(7, "", Path("x"))),
        (TypedTarget("acme/shop#7"), NumberTarget(7, "acme/shop", HERE)),
        (TypedTarget(issue="acme/shop#7"), NumberTarget(7, "acme/shop", HERE)),
        (TypedTarget("7", repo="acme/shop"), NumberTarget(7, "acme/shop", HERE)),
        (
            TypedTarget(repo="https://github.com/acme/shop", issue="7"),
            NumberTarget(7, "https://github.com/acme/shop", HERE),
        ),
        (TypedTarget(URL), UrlTarget(URL)),
        (TypedTarget(issue=URL), UrlTarget(URL)),
        (TypedTarget("github.com/acme/shop/issues/7"), UrlTarget(URL)),
        (TypedTarget("the cart is wrong"), TextTarget("", "the cart is wrong", HERE)),
        (
            TypedTarget("カートが間違っている"),
            TextTarget("", "カートが間違っている", HERE),
        ),
        (TypedTarget(task="refactor"), TextTarget("", "refactor", HERE)),
        (
            TypedTarget(task="Go.", folder=Path("x")),
            TextTarget("", "Go.", Path("x")),
        ),
    ],
)
def test_each_form_is_understood(
    typed: TypedTarget, target: NumberTarget | TextTarget | UrlTarget
) -> None:
    assert read_target(typed) == target


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (TypedTarget(), f"say what to work on, in one of these forms:\n{FORMS}"),
        (
            TypedTarget(" "),
            f"the task is empty; say what to work on, in one of these forms:\n{FORMS}",
        ),
        (TypedTarget("refactor"), ONE_WORD),
        (
            TypedTarget("acme/shop"),
            (
                "acme/shop is a repository; add the number of an issue, such as "
                "acme/shop#7"
            ),
        ),
        (
            TypedTarget(repo="./folder"),
            "--repo is OWNER/NAME; for a folder use -C ./folder",
        ),
        (
            TypedTarget("7", repo="shop"),
            "--repo is OWNER/NAME; for a folder use -C shop",
        ),
        (
            TypedTarget(task="Fix it.", repo="../shop"),
            "--repo is OWNER/NAME; for a folder use -C ../shop",
        ),
        (
            TypedTarget(issue="bug.md"),
            "--issue is a number; for a file use --file bug.md",
        ),
        (
            TypedTarget(issue="-"),
            "--issue is a number; for standard input use --file -",
        ),
        (
            TypedTarget(repo=".", issue="bug.md"),
            (
                "--repo is OWNER/NAME and --issue a number; for a folder and a file "
                "use -C . --file bug.md"
            ),
        ),
        (
            TypedTarget(repo="acme/shop"),
            "--repo acme/shop: add the number: --issue NUMBER",
        ),
        (
            TypedTarget(task="Fix it.", repo="acme/shop"),
            (
                "--repo goes with the number of an issue, and --task is none: leave "
                "out --repo, or use -C FOLDER for a checkout on this machine"
            ),
        ),
        (
            TypedTarget("acme/shop#7", repo="acme/shop"),
            "acme/shop#7 already names the repository: leave out --repo",
        ),
        (
            TypedTarget("acme/shop#7", folder=HERE),
            "'acme/shop#7' already names the repository: leave out -C",
        ),
        (
            TypedTarget(URL, folder=HERE),
            f"'{URL}' already names the repository: leave out -C",
        ),
        (
            TypedTarget("7", task="Fix it."),
            "'7' and --task name more than one thing to work on; keep one",
        ),
        (TypedTarget(task=" "), "--task is empty; write the task"),
    ],
)
def test_anything_else_is_answered_with_the_right_form(
    typed: TypedTarget, said: str
) -> None:
    with pytest.raises(SettingsError) as found:
        read_target(typed)
    assert str(found.value) == said


def test_a_file_or_a_folder_without_its_option_is_answered_with_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "bug.md"
    file.write_text("# Wrong sum\n\nIt says 450.\n")
    for word, said in (
        (str(file), f"{file} is a file; use --file {file}"),
        (
            str(tmp_path),
            (
                f"{tmp_path} is a folder; use -C {tmp_path} with a number or a task in "
                "quotes"
            ),
        ),
    ):
        with pytest.raises(SettingsError) as found:
            read_target(TypedTarget(word))
        assert str(found.value) == said
    assert read_target(TypedTarget(file=file)) == TextTarget(
        "Wrong sum", "\nIt says 450.", HERE
    )


@pytest.mark.parametrize(
    ("remotes", "chosen"),
    [
        ({"origin": "https://github.com/acme/shop.git"}, ("origin", "acme/shop")),
        ({"origin": "git@github.com:acme/shop.git"}, ("origin", "acme/shop")),
        ({"origin": "ssh://git@ssh.github.com:443/acme/shop"}, ("origin", "acme/shop")),
        ({"hub": "https://jo:pw@github.com/acme/shop/"}, ("hub", "acme/shop")),
        (
            {
                "origin": "git@github.com:jo/shop.git",
                "upstream": "https://github.com/acme/shop",
            },
            ("upstream", "acme/shop"),
        ),
        (
            {"origin": "/srv/shop.git", "hub": "https://github.com/acme/shop"},
            ("hub", "acme/shop"),
        ),
        (
            {
                "a": "git@github.com:acme/shop",
                "b": "https://github.com/Acme/shop.git",
            },
            ("a", "acme/shop"),
        ),
    ],
)
def test_the_repository_of_a_number_is_found_by_the_remotes(
    remotes: dict[str, str], chosen: tuple[str, str]
) -> None:
    assert choose_remote(remotes, FORGE, 7) == ForgeRemote(*chosen)


@pytest.mark.parametrize(
    ("remotes", "said"),
    [
        (
            {},
            (
                "no remote of this checkout is on https://github.com (it has no "
                "remotes); use OWNER/NAME#7. For another host set github.api_url or "
                "gitlab.base_url"
            ),
        ),
        (
            {"origin": "git@gitlab.com:acme/shop.git", "usb": "/media/shop"},
            (
                "no remote of this checkout is on https://github.com (origin is on "
                "gitlab.com, usb is on this machine); use OWNER/NAME#7. For another "
                "host set github.api_url or gitlab.base_url"
            ),
        ),
        (
            {
                "a": "https://github.com/acme/shop",
                "b": "https://github.com/jo/shop",
            },
            (
                "this checkout has several remotes on https://github.com, and none is "
                "called upstream or origin: a (acme/shop), b (jo/shop); use "
                "OWNER/NAME#7"
            ),
        ),
    ],
)
def test_remotes_that_leave_it_open_are_named(
    remotes: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingsError) as found:
        choose_remote(remotes, FORGE, 7)
    assert str(found.value) == said


def test_an_address_that_only_looks_like_the_forges_is_none() -> None:
    for address in (
        "https://github.com.evil.example/acme/shop",
        "https://evil.example/github.com/acme/shop",
        "https://github.com@evil.example/acme/shop",
        "git@evil.example:acme/shop",
        "https://github.com/acme/shop/issues/7",
        "https://github.com/acme/..",
    ):
        with pytest.raises(SettingsError):
            choose_remote({"origin": address}, FORGE, 7)


def test_an_address_has_a_host_and_a_path() -> None:
    assert read_address("http://[::1]:80/a/b.git") == RemoteAddress("[::1]:80", "a/b")
    assert read_address("ssh://git@HOST:22/a/b") == RemoteAddress("host", "a/b")
    assert read_address("../shop") == RemoteAddress("", "../shop")


@pytest.mark.parametrize(
    "text",
    [
        "acme/shop",
        "github.com/acme/shop",
        "https://github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
    ],
)
def test_a_repository_may_be_named_by_its_address(text: str) -> None:
    assert read_repository(text, FORGE) == "acme/shop"


def test_an_address_without_its_scheme_is_not_a_group() -> None:
    settings = load_settings(HUB, flags={}, cwd=HERE)
    target = NumberTarget(7, "gitlab.com/group/app", HERE)
    forge = choose_forge(target, settings).describe(settings)
    assert locate_thread(target, forge).thread.repo.full_name == "group/app"


def test_a_repository_of_another_host_is_refused() -> None:
    with pytest.raises(SettingsError) as found:
        read_repository("gitlab.com/acme/shop", FORGE)
    assert str(found.value) == (
        "--repo gitlab.com/acme/shop: expected OWNER/NAME or "
        "https://github.com/OWNER/NAME. For another host set github.api_url or "
        "gitlab.base_url"
    )


GITLAB_URL = "https://gitlab.com/group/sub/app/-/merge_requests/5"
HUB, LAB = {"PATCHWRIGHT_GITHUB__TOKEN": "1"}, {"PATCHWRIGHT_GITLAB__TOKEN": "1"}
OWN = {"PATCHWRIGHT_GITLAB__BASE_URL": "https://git.corp.example/gitlab"}


@pytest.mark.parametrize(
    ("word", "environ", "chosen"),
    [
        (URL, {}, "github"),
        (URL, LAB, "github"),
        (GITLAB_URL, {}, "gitlab"),
        (GITLAB_URL, HUB, "gitlab"),
        ("https://git.corp.example/gitlab/a/b/-/issues/1", OWN, "gitlab"),
        ("https://elsewhere.example/a/b/issues/1", {}, "github"),
        ("https://elsewhere.example/a/b/issues/1", LAB, "gitlab"),
        (URL, {"PATCHWRIGHT_FORGE": "gitlab"}, "gitlab"),
        ("acme/shop#7", {}, "github"),
        ("acme/shop#7", LAB, "gitlab"),
        ("acme/shop#7", HUB | LAB | {"PATCHWRIGHT_FORGE": "gitlab"}, "gitlab"),
        ("acme/shop!5", {}, "gitlab"),
        ("acme/shop!5", HUB, "gitlab"),
        ("group/sub/app#5", HUB, "gitlab"),
    ],
)
def test_the_forge_is_that_of_the_address_or_of_the_settings(
    word: str, environ: dict[str, str], chosen: str, tmp_path: Path
) -> None:
    settings = load_settings(environ, flags={}, cwd=tmp_path)
    target = read_target(TypedTarget(word, folder=None))
    assert isinstance(target, UrlTarget | NumberTarget)
    assert choose_forge(target, settings).name == chosen


@pytest.mark.parametrize(
    ("remote", "environ", "chosen"),
    [
        ("git@gitlab.com:group/sub/app.git", HUB, "gitlab"),
        ("https://github.com/acme/shop", LAB, "github"),
        ("ssh://git@git.corp.example:2222/group/app.git", OWN, "gitlab"),
        ("/srv/shop.git", LAB, "gitlab"),
        ("/srv/shop.git", {}, "github"),
    ],
)
def test_the_forge_of_a_number_is_that_of_the_remotes(
    remote: str, environ: dict[str, str], chosen: str, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", remote)
    settings = load_settings(environ, flags={}, cwd=tmp_path)
    target = NumberTarget(7, "", tmp_path)
    assert choose_forge(target, settings).name == chosen


def test_a_merge_request_is_named_by_its_mark_and_an_issue_is_not_it() -> None:
    forge = find_forge(load_settings(LAB, flags={}, cwd=HERE)).describe(
        load_settings(LAB, flags={}, cwd=HERE)
    )
    by_url = locate_thread(UrlTarget(GITLAB_URL), forge)
    by_mark = locate_thread(NumberTarget(5, "group/sub/app", HERE, "!"), forge)
    issue = locate_thread(NumberTarget(5, "group/sub/app", HERE), forge)
    assert by_url.thread == by_mark.thread != issue.thread
    assert [one.thread.name for one in (by_mark, issue)] == ["!5", "#5"]
    assert by_mark.is_kind_known
    with pytest.raises(SettingsError) as found:
        locate_thread(UrlTarget("https://gitlab.com/group/app"), forge)
    assert str(found.value) == (
        "https://gitlab.com/group/app is not an issue or pull request on "
        "https://gitlab.com; expected https://gitlab.com/OWNER/NAME/-/issues/7. For "
        "another host set github.api_url or gitlab.base_url"
    )


def test_an_address_says_whether_it_is_an_issue_and_a_number_does_not() -> None:
    by_url = locate_thread(UrlTarget(URL), FORGE)
    by_number = locate_thread(NumberTarget(7, "acme/shop", HERE), FORGE)
    assert by_url.thread == by_number.thread
    assert (by_url.is_kind_known, by_number.is_kind_known) == (True, False)
