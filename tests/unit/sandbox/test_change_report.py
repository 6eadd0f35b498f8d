"""What the model reads after an edit: the lines around it, numbered and bounded."""

from patchwright.sandbox.action_server.change_report import report_change


def numbered(*lines: int) -> list[str]:
    return [f"line {number}" for number in lines]


def excerpt(before: list[str], after: list[str]) -> str:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    return report_change("a.py", old, new).excerpt


FILE = numbered(*range(1, 101))


def test_the_lines_around_an_edit_have_their_numbers() -> None:
    after = [*FILE[:49], "fifty", "and a half", *FILE[50:]]
    assert excerpt(FILE, after).splitlines() == [
        "    47\tline 47",
        "    48\tline 48",
        "    49\tline 49",
        "    50\tfifty",
        "    51\tand a half",
        "    52\tline 51",
        "    53\tline 52",
        "    54\tline 53",
    ]


def test_each_place_is_shown_with_the_numbers_of_the_file_as_it_is_now() -> None:
    shown = excerpt(FILE, ["new", *FILE[:79], "eighty", *FILE[80:]])
    assert shown.splitlines()[:2] == ["     1\tnew", "     2\tline 1"]
    assert "\n   ...\n    78\tline 77\n" in shown
    assert "\n    81\teighty\n" in shown


def test_what_was_taken_out_is_counted_where_it_was() -> None:
    shown = excerpt(FILE, [*FILE[:9], *FILE[12:]])
    assert "     9\tline 9\n[3 lines removed here]\n    10\tline 13" in shown
    end = excerpt(FILE, FILE[:-1])
    assert end.endswith("    99\tline 99\n[1 line removed here]")


def test_a_file_that_was_emptied_says_so() -> None:
    assert excerpt(FILE, []) == "[100 lines removed here]"


def test_a_large_change_is_bounded() -> None:
    new = (f"new {'x' * 900}" for _ in range(5000))
    shown = excerpt(FILE, [*FILE[:10], *new, *FILE[10:]])
    assert len(shown) < 4_000
    assert "[... 4990 more lines ...]" in shown
    assert "x [... 704 more characters ...]" in shown
    assert shown.endswith("  5013\tline 13")


def test_many_changes_are_bounded() -> None:
    before = numbered(*range(1, 1001))
    after = [
        f"{line} changed" if number % 20 == 0 else line
        for number, line in enumerate(before)
    ]
    shown = excerpt(before, after)
    assert len(shown.splitlines()) < 50
    assert shown.endswith("[... changed in 45 more places ...]")


def test_of_a_new_file_only_the_length_is_told() -> None:
    change = report_change("a.py", None, "one\ntwo\nthree")
    assert change.excerpt == "[created; 3 lines]"
    assert change.diff.endswith("+three\n\\ No newline at end of file\n")
    assert report_change("a.py", None, "one\n").excerpt == "[created; 1 line]"


def test_ends_of_lines_are_not_shown() -> None:
    assert report_change("a.py", "one\r\ntwo", "one\r\n2").excerpt == (
        "     1\tone\n     2\t2"
    )


def test_an_unchanged_file_has_nothing_to_show() -> None:
    assert report_change("a.py", "one\n", "one\n") == ("", "")


def test_a_file_that_is_too_long_to_compare_is_called_so() -> None:
    change = report_change("a.sql", "x\n" * 20_001, "y\n")
    assert change == ("a.sql is too long for a diff\n", "")
