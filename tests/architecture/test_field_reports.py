"""Every field report about what is served has a test, or a line that says why not."""

import re

from tests.architecture.tree import ROOT, modules

# Triggers, webhooks, git, pull requests, the sandbox, models, Slack and Jira, and
# security.
REPORTS = {*range(1, 78), *range(80, 87)}
LATER = {49}


def test_each_report_has_a_test_of_its_name_or_a_reason() -> None:
    named = re.compile(r"def test_s(\d\d)_")
    tested = {int(one) for m in modules("tests/") for one in named.findall(m.text)}
    page = (ROOT / "docs/field-reports.md").read_text()
    explained = {int(one) for one in re.findall(r"^\| S-(\d\d) \|", page, re.MULTILINE)}
    assert REPORTS - LATER - tested - explained == set()
    assert explained & tested == set()
