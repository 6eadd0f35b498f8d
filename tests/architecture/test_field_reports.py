"""Every field report has a test."""

from tests.reference.field_reports import shown

REPORTS = frozenset(range(1, 86))


def test_each_report_has_a_test_of_its_name() -> None:
    assert REPORTS - shown() == set()
