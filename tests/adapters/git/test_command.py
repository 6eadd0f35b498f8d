"""Git runs without the user's set-up, and without giving secrets away."""

from pathlib import Path

import pytest

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.command import call_git, run_git, without_credentials


def test_failure_shows_the_command_and_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"git rev-parse failed: .*not a git repo"):
        run_git(["rev-parse", "HEAD"], cwd=tmp_path)


def test_setting_of_one_call_is_seen_by_git_and_by_nobody_else(tmp_path: Path) -> None:
    asked = ["config", "--get", "http.https://h.test/.extraHeader"]
    given = {"http.https://h.test/.extraHeader": "Authorization: Basic abc"}
    seen = call_git(asked, cwd=tmp_path, settings=given)
    assert seen.output == b"Authorization: Basic abc\n"
    assert call_git(asked, cwd=tmp_path).exit_code == 1


def test_s82_setting_of_one_call_is_in_no_argument_list(tmp_path: Path) -> None:
    show = ["-c", "alias.args=!cat /proc/$PPID/cmdline", "args"]
    given = {"http.https://h.test/.extraHeader": "Authorization: Basic abc"}
    seen = call_git(show, cwd=tmp_path, settings=given)
    assert b"alias.args" in seen.output
    assert b"Basic" not in seen.output


def test_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    endless = ["-c", "alias.wait=!sleep 60", "wait"]
    done = call_git(endless, cwd=tmp_path, timeout_s=0.2)
    assert (done.exit_code, done.error_output) == (124, "it did not end in 0.2 s")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:pw@h.test/a.git", "https://***@h.test/a.git"),
        ("> Authorization: Basic eHg6", "> Authorization: Basic ***"),
        ("authorization: bearer abc.def", "authorization: bearer ***"),
        ("token ghs_1 refused", "token *** refused"),
        ("nothing@all", "nothing@all"),
    ],
)
def test_credentials_are_cut_out(text: str, shown: str) -> None:
    assert without_credentials(text, ["ghs_1"]) == shown
