"""What we say on GitLab has its words, and GitLab does nothing that it says."""

import pytest

from patchwright.core.text.escape import code_block
from patchwright.integrations.gitlab.words import (
    MAX_CHARS,
    MAX_TITLE_CHARS,
    as_note,
    as_title,
    in_own_words,
    without_draft,
)

STATUS = """\
<!-- patchwright:state=done run=r1 -->
**Pull request !5 is ready.** It is a draft pull request: see [the pull request](https://git.example/pull%20request).

> Please open a pull request.

- “Fix the pull request form” was proven by `make pull request`.
- Two pull
requests of other people fix it as well.

```
pull request
```

<details><summary>Pull requests</summary>

Pull Request
</details>
"""
SAID = """\
<!-- patchwright:state=done run=r1 -->
**Merge request !5 is ready.** It is a draft merge request: see [the merge request](https://git.example/pull%20request).

> Please open a pull request.

- “Fix the pull request form” was proven by `make pull request`.
- Two merge
requests of other people fix it as well.

```
pull request
```

<details><summary>Merge requests</summary>

Merge Request
</details>
"""


def test_pull_requests_are_merge_requests_but_in_code_and_quotations() -> None:
    assert in_own_words(STATUS) == SAID


def test_a_text_without_the_words_stays_as_it_is() -> None:
    text = "It pulls.\r\nRequests: 3"
    assert in_own_words(text) == text


@pytest.mark.parametrize(
    "command",
    ["/close", "/merge", "/approve now", "/assign @ann", "/label ~bug\t", "/tableflip"],
)
def test_no_line_of_ours_is_a_command_to_gitlab(command: str) -> None:
    text = f"Said:\n\n{command}\n\nAnd more."
    assert as_note(text) == f"Said:\n\n\\{command}\n\nAnd more."


def test_a_command_in_code_is_none_either_whatever_gitlab_takes_for_code() -> None:
    text = code_block("```\n/merge\n```")
    assert text == "````\n```\n/merge\n```\n````"
    assert as_note(text) == "````\n```\n /merge\n```\n````"


def test_paths_are_no_commands() -> None:
    text = "Read\n/etc/hosts\n/usr/bin/python: not found\n- /close\n/5"
    assert as_note(text) == text


def test_a_draft_is_told_by_its_title_alone() -> None:
    assert as_title("Fix it", draft=True) == "Draft: Fix it"
    assert as_title("Draft: Fix it", draft=True) == "Draft: Fix it"
    assert as_title("Draft: [Draft] Fix it", draft=False) == "Fix it"
    assert without_draft("Drafting a plan") == "Drafting a plan"


def test_texts_are_cut_to_what_gitlab_takes() -> None:
    assert len(as_title("x" * 300, draft=True)) == MAX_TITLE_CHARS
    assert len(as_note("x" * (MAX_CHARS + 9))) <= MAX_CHARS
