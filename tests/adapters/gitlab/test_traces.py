"""What a job printed, a hunk and a suggestion are read as people see them."""

import pytest

from patchwright.core.types.threads import DiffSide
from patchwright.integrations.gitlab.checks import clean_trace
from patchwright.integrations.gitlab.reviews import cut_hunk, show_suggestions
from patchwright.integrations.http.log_tail import MAX_TAIL_CHARS

TRACE = (
    "\x1b[0KRunning with gitlab-runner 18.5.0\x1b[0;m\n"
    "section_start:1560896352:step_script[collapsed=true]\r\x1b[0K"
    "\x1b[36;1mExecuting\x1b[0;m\n"
    "\x1b[32;1m$ make test\x1b[0;m\n"
    "progress 10%\rprogress 100%\n"
    "FAILED test_sum\r\n"
    "section_end:1560896353:step_script\r\x1b[0K\n"
    "\x1b[31;1mERROR: Job failed: exit code 1\n\x1b[0;m\n"
)
STAMPED = (
    "2026-01-02T03:04:05.123456Z 00O $ make test\n"
    "2026-01-02T03:04:05.223456Z 01E FAILED test_sum\n"
    "2026-01-02T03:04:05.323456Z 00O+went on\n"
)


def test_marks_and_colours_are_left_out_of_a_trace() -> None:
    assert clean_trace(TRACE.encode()) == (
        "Running with gitlab-runner 18.5.0\n"
        "Executing\n"
        "$ make test\n"
        "progress 100%\n"
        "FAILED test_sum\n"
        "\n"
        "ERROR: Job failed: exit code 1"
    )


def test_times_and_streams_are_left_out_of_a_trace() -> None:
    assert clean_trace(STAMPED.encode()) == "$ make test\nFAILED test_sum\nwent on"


def test_of_a_long_trace_the_last_lines_are_kept() -> None:
    kept = clean_trace("".join(f"line {n}\n" for n in range(5000)).encode())
    assert len(kept) <= MAX_TAIL_CHARS
    assert kept.startswith("line ")
    assert kept.endswith("line 4999")


DIFF = """\
@@ -1,3 +1,4 @@
 one
-two
+zwei
+three
 four
@@ -10,2 +11,2 @@ def far():
-ten
+TEN
 eleven
\\ No newline at end of file
"""


@pytest.mark.parametrize(
    ("side", "line", "end"),
    [
        (DiffSide.NEW, 1, " one"),
        (DiffSide.OLD, 2, "-two"),
        (DiffSide.NEW, 3, "+three"),
        (DiffSide.OLD, 3, " four"),
        (DiffSide.OLD, 10, "-ten"),
        (DiffSide.NEW, 12, " eleven"),
    ],
)
def test_a_hunk_ends_with_the_line(side: DiffSide, line: int, end: str) -> None:
    hunk = cut_hunk(DIFF, side, line)
    assert hunk.startswith("@@ -10" if line > 9 else "@@ -1,3")
    assert hunk.splitlines()[-1] == end


@pytest.mark.parametrize("line", [5, 9, 99])
def test_a_line_in_no_hunk_has_none(line: int) -> None:
    assert cut_hunk(DIFF, DiffSide.OLD, line) == ""


@pytest.mark.parametrize(
    ("fence", "line", "shown"),
    [
        ("```suggestion:-2+1", 5, "Suggested in place of lines 3 to 6:\n\n```"),
        ("~~~~suggestion", 5, "Suggested in place of line 5:\n\n~~~~"),
        ("  ```suggestion:-0+0 ", None, "  Suggested in place of it:\n\n  ```"),
        ("```suggestions", 5, "```suggestions"),
    ],
)
def test_a_suggestion_says_which_lines_it_is_for(
    fence: str, line: int | None, shown: str
) -> None:
    assert show_suggestions(f"Hm\n{fence}\nx\n```", line) == f"Hm\n{shown}\nx\n```"
