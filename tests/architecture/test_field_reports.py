"""Every field report about what is served has a test, or a line that says why not."""

from tests.reference.field_reports import UNTESTED, shown

REPORTS = frozenset(range(1, 86))


def test_each_report_has_a_test_of_its_name_or_a_reason() -> None:
    assert REPORTS - shown() - set(UNTESTED) == set()
    assert set(UNTESTED) & shown() == set()
