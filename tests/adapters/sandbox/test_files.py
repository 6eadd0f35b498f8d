"""Reading and changing files: bytes stay what they were, except where asked."""

import hashlib

import pytest

from patchwright.core.events.actions import Edit, EditFile, ReadFile, WriteFile
from tests.adapters.sandbox.box import Box


def test_lines_come_with_their_numbers(box: Box) -> None:
    path = box.put("a.txt", b"one\ntwo\r\nthree")
    content = box.read(path)
    assert content.text == "     1\tone\n     2\ttwo\n     3\tthree"
    assert (content.path, content.first_line, content.total_lines) == (path, 1, 3)


def test_a_part_of_a_file_can_be_read(box: Box) -> None:
    path = box.put("a.txt", b"".join(b"%d\n" % number for number in range(1, 100)))
    content = box.read(path, 42, 43)
    assert content.text == "    42\t42\n    43\t43"
    assert (content.first_line, content.total_lines) == (42, 99)


def test_a_long_file_and_a_long_line_are_cut_and_say_so(box: Box) -> None:
    path = box.put("a.txt", b"x" * 5000 + b"\n" + b"y\n" * 3000)
    text = box.read(path).text
    assert "[... 3000 more characters ...]" in text
    assert text.endswith(
        "[... 2001 more lines of 3001; continue with start_line=1001 ...]"
    )


@pytest.mark.parametrize(
    ("content", "start", "end", "text"),
    [
        (b"", 1, None, "[the file is empty]"),
        (b"", 7, 9, "[the file is empty]"),
        (b"1\n", 2, None, "[the file has 1 line; there is none from line 2 on]"),
        (b"1\n2\n3", 40, 50, "[the file has 3 lines; there is none from line 40 on]"),
        (
            b"1\n2\n3",
            3,
            2,
            "[no line: end_line is less than start_line=3; the file has 3 lines]",
        ),
        (b"\n", 1, None, "     1\t"),
        (b"1\n2\n3", 3, 90, "     3\t3"),
    ],
)
def test_where_there_is_no_line_to_show_the_reason_is_told(
    box: Box, content: bytes, start: int, end: int | None, text: str
) -> None:
    shown = box.read(box.put("a.txt", content), start, end)
    assert shown.text == text
    assert shown.total_lines == len(content.splitlines())


def test_an_empty_folder_is_not_called_an_empty_file(box: Box) -> None:
    box.sh(f"mkdir -p {box.folder}/empty")
    assert box.read(f"{box.folder}/empty").text == "[the folder is empty]"


def test_a_diff_counts_lines_as_reading_does(box: Box) -> None:
    path = box.put("a.py", b"one\x0c\ntwo\x0bstill\nthree\n")
    edited = box.edit(path, Edit(old="three", new="3"))
    assert "     3\t3" in box.read(path).text
    assert edited.diff == (
        f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\x0c\n two\x0bstill\n"
        "-three\n+3\n"
    )


def test_a_folder_is_listed(box: Box) -> None:
    box.put("b.txt", b"")
    box.put("a/deep.txt", b"")
    box.sh(f"ln -s b.txt {box.folder}/link")
    assert box.read(box.folder).text == "a/\nb.txt\nlink -> b.txt"


def test_a_binary_file_is_called_one(box: Box) -> None:
    path = box.put("a.bin", b"\x7fELF\0\0\0")
    refused = box.refusal(ReadFile(path=path))
    assert refused.reason == "binary"
    assert "7 bytes" in refused.text


def test_a_fifo_does_not_hang_the_reader(box: Box) -> None:
    box.sh(f"mkdir -p {box.folder}; mkfifo {box.folder}/pipe")
    assert box.refusal(ReadFile(path=f"{box.folder}/pipe")).reason == "not-a-file"


@pytest.mark.parametrize(
    "path", ["../home/x", "/etc/passwd", "/workspace/home/x", "a/../../logs/x"]
)
def test_a_path_out_of_the_repository_is_refused(box: Box, path: str) -> None:
    assert box.refusal(ReadFile(path=path)).reason == "outside"
    assert box.refusal(WriteFile(path=path, content="x")).reason == "outside"
    edit = Edit(old="a", new="b")
    assert box.refusal(EditFile(path=path, edits=(edit,))).reason == "outside"


def test_a_symlink_out_of_the_repository_is_refused(box: Box) -> None:
    box.sh(f"mkdir -p {box.folder}; ln -s /tmp {box.folder}/away")
    path = f"{box.folder}/away/planted"
    assert box.refusal(WriteFile(path=path, content="x")).reason == "outside"
    assert box.sh("test -e /tmp/planted").exit_code == 1


def test_absolute_paths_into_the_repository_are_taken(box: Box) -> None:
    path = box.put("a.txt", b"text\n")
    assert box.read(f"/workspace/repo/{path}").path == path


def test_a_new_file_gets_its_folders(box: Box) -> None:
    path = f"{box.folder}/new/deep/a.txt"
    edited = box.write_file(path, "one\ntwo\n")
    assert box.bytes_of(path) == b"one\ntwo\n"
    assert edited.diff == f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert edited.sha256_before == ""
    assert edited.sha256_after == hashlib.sha256(b"one\ntwo\n").hexdigest()


def test_writing_a_file_anew_keeps_mode_bom_and_newlines(box: Box) -> None:
    path = box.put("run.sh", b"\xef\xbb\xbfecho 1\r\necho 2\r\n")
    box.sh(f"chmod 755 {path}")
    box.write_file(path, "echo 3\n")
    assert box.bytes_of(path) == b"\xef\xbb\xbfecho 3\r\n"
    assert box.sh(f"stat -c %a {path}").output == "755\n"


def test_an_edit_changes_its_piece_and_reports_the_difference(box: Box) -> None:
    path = box.put("a.py", b"one\ntwo\nthree\n")
    edited = box.edit(path, Edit(old="two", new="2"))
    assert box.bytes_of(path) == b"one\n2\nthree\n"
    assert edited.diff == (
        f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    )
    assert edited.sha256_before == hashlib.sha256(b"one\ntwo\nthree\n").hexdigest()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\nb\r\nc\n", "b\nc", "x", b"a\nx\n"),
        (b"no newline", "newline", "end", b"no end"),
        (b"\xef\xbb\xbfbom\n", "bom", "still", b"\xef\xbb\xbfstill\n"),
        (b"caf\xe9\nx\n", "x", "y", b"caf\xe9\ny\n"),
        (b"caf\xe9\n", "café", "thé", b"th\xe9\n"),
        ("ä\nö\n".encode("utf-16"), "ö", "ü", "ä\nü\n".encode("utf-16")),
        (b"a\x0cb\n", "b", "c", b"a\x0cc\n"),
    ],
)
def test_s26_untouched_bytes_stay_identical(
    box: Box, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = box.put("a.txt", before)
    box.edit(path, Edit(old=old, new=new))
    assert box.bytes_of(path) == after


def test_a_character_that_the_encoding_lacks_is_refused(box: Box) -> None:
    path = box.put("a.txt", b"caf\xe9\n")
    edit = EditFile(path=path, edits=(Edit(old="caf", new="✓"),))
    assert box.refusal(edit).reason == "encoding"
    assert box.bytes_of(path) == b"caf\xe9\n"


def test_s27_an_edit_keeps_the_mode(box: Box) -> None:
    path = box.put("run.sh", b"echo 1\n")
    box.sh(f"chmod 755 {path}")
    box.edit(path, Edit(old="1", new="2"))
    assert box.sh(f"stat -c %a {path}").output == "755\n"


def test_an_edit_goes_through_a_symlink(box: Box) -> None:
    path = box.put("a.txt", b"old\n")
    box.sh(f"cd {box.folder}; ln -s a.txt link")
    box.edit(f"{box.folder}/link", Edit(old="old", new="new"))
    assert box.bytes_of(path) == b"new\n"
    assert box.sh("readlink link").output == "a.txt\n"


def test_no_match_shows_the_nearest_lines(box: Box) -> None:
    path = box.put("a.py", b"def first():\n    pass\n\ndef second():\n    pass\n")
    edit = EditFile(path=path, edits=(Edit(old="def secnd():", new="x"),))
    refused = box.refusal(edit)
    assert refused.reason == "no-match"
    assert "4: 'def second():'" in refused.text


def test_several_matches_name_their_lines(box: Box) -> None:
    path = box.put("a.py", b"x\ny\nx\n")
    refused = box.refusal(EditFile(path=path, edits=(Edit(old="x", new="z"),)))
    assert refused.reason == "several-matches"
    assert "at lines 1, 3" in refused.text
    box.edit(path, Edit(old="x", new="z", occurrence=2))
    assert box.bytes_of(path) == b"x\ny\nz\n"


def test_several_edits_are_applied_in_order_or_not_at_all(box: Box) -> None:
    path = box.put("a.py", b"one\n")
    good, bad = Edit(old="one", new="two"), Edit(old="one", new="three")
    refused = box.refusal(EditFile(path=path, edits=(good, bad)))
    assert refused.text.startswith(f"Edit 2 of {path}")
    assert box.bytes_of(path) == b"one\n"
    box.edit(path, good, Edit(old="two", new="three"))
    assert box.bytes_of(path) == b"three\n"


def test_a_write_leaves_no_temporary_file(box: Box) -> None:
    path = box.put("a.txt", b"x")
    box.edit(path, Edit(old="x", new="y"))
    assert box.sh(f"ls -A {box.folder}").output == "a.txt\n"


def test_names_that_are_not_utf_8_are_shown(box: Box) -> None:
    box.sh(f"mkdir -p {box.folder}; touch {box.folder}/$'\\xe9'")
    assert box.read(box.folder).text == "?"
