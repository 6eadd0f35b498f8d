"""Searching files, also for what takes too long."""

from patchwright.core.events.actions import SearchFiles
from tests.adapters.sandbox.box import Box


def test_matches_name_file_and_line(box: Box) -> None:
    path = box.put("src/a.py", b"x = 1\nneedle = 2\n")
    result = box.search(r"need\w+")
    assert result.text == f"{path}:2: needle = 2"
    assert (result.matches, result.truncated) == (1, False)


def test_a_glob_chooses_files(box: Box) -> None:
    for name in ("a.py", "deep/b.py", "c.txt"):
        box.put(name, b"needle\n")
    assert box.search("needle", glob="*.py").matches == 2
    assert box.search("needle", glob="**/*.py").matches == 2
    assert box.search("needle", glob=f"{box.folder}/deep/*").matches == 1


def test_binary_files_and_git_itself_are_left_out(box: Box) -> None:
    box.put("a.bin", b"\0needle\n")
    box.put(".git/config", b"needle\n")
    assert box.search("needle").matches == 0


def test_what_git_ignores_is_left_out(fresh: Box) -> None:
    fresh.sh("git init -q . && echo build/ > .gitignore")
    kept = fresh.put("a.py", b"needle\n")
    fresh.put("build/b.py", b"needle\n")
    assert fresh.search("needle", ".").text == f"{kept}:1: needle"


def test_many_matches_are_cut_and_say_so(box: Box) -> None:
    box.put("a.txt", b"needle\n" * 500)
    result = box.search("needle")
    assert (result.matches, result.truncated) == (200, True)
    assert result.note == (
        "stopped at 200 matches, and there are more: narrow `path`, `glob` or `pattern`"
    )


def test_exactly_as_many_matches_as_are_shown_are_all_of_them(box: Box) -> None:
    box.put("a.txt", b"needle\n" * 200)
    result = box.search("needle")
    assert (result.matches, result.truncated, result.note) == (200, False, "")


def test_no_match_says_how_much_was_searched(box: Box) -> None:
    box.put("a.py", b"hay\n")
    box.put("b.py", b"hay\n")
    box.put("c.txt", b"needle\n")
    note = box.search("needle", glob="*.py").note
    assert note == "no match in 2 files; what git ignores is not searched"


def test_a_file_that_is_too_large_to_be_searched_is_named(box: Box) -> None:
    box.put("a.txt", b"needle\n")
    box.sh(f"truncate -s 6M {box.folder}/large.sql")
    result = box.search("needle")
    assert result.matches == 1
    assert result.note == f"too large to be searched here: {box.folder}/large.sql"


def test_a_long_line_is_cut_and_says_so(box: Box) -> None:
    box.put("a.txt", b"needle" + b"x" * 400)
    assert box.search("needle").text.endswith("xx [... 106 more characters ...]")


def test_lines_have_the_numbers_that_reading_gives_them(box: Box) -> None:
    path = box.put("a.txt", b"one\x0ctwo\r\nneedle\r\n")
    assert box.search("^needle$").text == f"{path}:2: needle"
    assert box.search("^$").matches == 0


def test_a_broken_expression_is_an_error(box: Box) -> None:
    refused = box.refusal(SearchFiles(pattern="("))
    assert refused.reason == "bad-pattern"


def test_a_path_outside_is_refused(box: Box) -> None:
    assert box.refusal(SearchFiles(pattern="x", path="/etc")).reason == "outside"


def test_an_expression_that_explodes_does_not_stop_the_sandbox(fresh: Box) -> None:
    fresh.put("a.txt", b"a" * 40 + b"!\n")
    action = SearchFiles(pattern="(a+)+$", path=fresh.folder)
    assert fresh.refusal(action).reason == "timed-out"
    assert fresh.sh("echo alive").output == "alive\n"


DIG = """
import os
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
open("needle.txt", "w").write("a needle\\n")
"""


def test_m1_what_is_deeper_than_calls_may_be_nested_is_found(box: Box) -> None:
    box.sh(f"mkdir {box.folder}; cd {box.folder}; python3 - ", stdin=DIG)
    found = box.search("a needle")
    assert (found.matches, found.text[-12:]) == (1, ":1: a needle")
