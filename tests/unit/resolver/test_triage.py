"""Requests that say too little or ask too much get a question; all others get work."""

from datetime import UTC, datetime, timedelta

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    Thread,
    ThreadKind,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import NO_USAGE
from patchwright.resolver.triage import (
    MAX_TASKS,
    TOO_LARGE,
    TOO_VAGUE,
    ClearRequest,
    TriageQuestion,
    needs_input_outcome,
    triage,
    triage_texts,
)

SHOP = RepoRef(forge="github", full_name="acme/shop")
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ALICE = Actor(service="github", login="alice")
GREETER = Actor(service="github", login="greeter[bot]", is_bot=True)
FORM = """\
### Describe the bug
A clear and concise description of what the bug is.

**To Reproduce**
Steps to reproduce the behavior:
1. Go to '...'
4. See error

### Environment

_No response_

- [x] I have searched the existing issues
"""
WISH_FORM = """\
**Is your feature request related to a problem? Please describe.**
A clear and concise description of what the problem is. Ex. I wait for [...]

**Describe alternatives you've considered**

**Desktop (please complete the following information):**
 - OS: [e.g. iOS]
 - Browser [e.g. chrome, safari]

**Additional context**
Add any other context or screenshots about the feature request here.
"""
TRACE = """\
```
Traceback (most recent call last):
  File "cart.py", line 4, in total
```"""


def asked(
    title: str,
    body: str = "",
    request: str = "",
    *,
    kind: TriggerKind = TriggerKind.COMMENT_MENTION,
    comments: tuple[tuple[Actor, str], ...] = (),
    thread_kind: ThreadKind = ThreadKind.ISSUE,
) -> ClearRequest | TriageQuestion:
    ref = ForgeThread(repo=SHOP, kind=thread_kind, number=7)
    texts = ((ALICE, body), *comments, (ALICE, f"@patchwright {request}"))
    posts = tuple(
        ThreadPost(id=str(n), author=author, text=text, at=NOON + timedelta(minutes=n))
        for n, (author, text) in enumerate(texts)
    )
    thread = Thread(ref=ref, title=title, url="https://example.com/7", posts=posts)
    trigger = Trigger(key="k", kind=kind, actor=ALICE, thread=ref, request=request)
    return triage(thread, trigger)


def reason(judged: ClearRequest | TriageQuestion) -> str:
    return judged.reason if isinstance(judged, TriageQuestion) else "clear"


@pytest.mark.parametrize(
    ("title", "body", "request_text"),
    [
        ("Bug", "", ""),
        ("bug", "", "fix it"),
        ("Help!!!", "Please help, urgent", "please fix"),
        ("It doesn't work", "", "fix this please"),
        ("[BUG]", FORM, ""),
        ("Feature request", WISH_FORM, ""),
        ("Does not work anymore", "It is broken. Please fix ASAP, thanks!", ""),
        ("Error", "There is an error in the app", "can you fix this"),
        ("Make it better", "", "improve the code"),
        ("test", "test", ""),
        ("🐛", "🙏🙏🙏", "🚀"),
        ("Bug", "<!-- Describe the fault here -->", "@bob please"),
        ("Geht nicht", "Funktioniert nicht mehr, bitte beheben", ""),
        ("Ne marche pas", "Ça ne marche plus, merci", "corrigez s'il vous plaît"),
        ("No funciona", "", "arréglalo por favor"),
        ("Não funciona", "", "corrige isso por favor"),
        ("Non funziona più", "", "per favore correggi"),
        ("Werkt niet", "Het is kapot", ""),
        ("Nie działa", "", "napraw to"),
        ("Всё сломалось", "Исправьте пожалуйста", ""),
        ("不工作", "请修复这个问题 谢谢", ""),
        ("坏了", "", "帮我修复一下"),
        ("動かない", "", "修正してください"),
        ("작동하지 않습니다", "", "고쳐주세요"),
        ("لا يعمل", "", "من فضلك أصلح هذا"),
    ],
)
def test_a_request_that_says_nothing_is_asked_back(
    title: str, body: str, request_text: str
) -> None:
    assert reason(asked(title, body, request_text)) == TOO_VAGUE


@pytest.mark.parametrize(
    ("title", "body", "request_text"),
    [
        ("Bug", TRACE, ""),
        ("Bug", "", "fix cart.py"),
        ("Fails", "make test", "fix it"),
        ("Bug", "![](https://example.com/shot.png)", ""),
        ("Login broken", "", ""),
        ("Fix #12", "", ""),
        ("Wrong total", "", "fix it"),
        ("Broken", FORM + "\nThe total is 450 for three pieces.", ""),
        ("Crash", "", "what is the cause?"),
        ("Error 502", "", ""),
        ("TypeError", "", ""),
        ("Broken since 2.1.4", "", ""),
        ("Doesn't work", "getTotal() returns nothing", ""),
        ("Bug", 'It says "cannot open"', ""),
        ("Typo", "", ""),
        ("Summe falsch", "", "bitte beheben"),
        ("Erreur 500 au paiement", "", ""),
        ("La suma es incorrecta", "", "arregla"),
        ("Сумма неверная", "", "исправь"),
        ("登录失败", "", "请修复"),
        ("合計が間違っている", "", "修正してください"),
        ("로그인 오류", "", "고쳐주세요"),
        ("الدفع لا يعمل", "", ""),
        ("Ang kabuuan ay mali", "", ""),
        ("Why is it slow", "Why is the export slow?", ""),
        ("Refactor `cart.py`", "", ""),
    ],
)
def test_a_request_that_names_anything_is_clear(
    title: str, body: str, request_text: str
) -> None:
    assert reason(asked(title, body, request_text)) == "clear"


@pytest.mark.parametrize(
    ("title", "body", "request_text"),
    [
        ("Rewrite the entire app in Rust", "", ""),
        ("Please rewrite everything", "", ""),
        ("Performance", "We should rewrite the whole backend from scratch.", ""),
        ("Python 2 is old", "It is time.", "migrate the whole codebase to Python 3"),
        ("Rewrite the backend in Go", "", "go"),
        ("Schreib die ganze Anwendung neu", "", ""),
        ("Réécris tout le projet en Rust", "", ""),
        ("Reescribe toda la aplicación", "", ""),
        ("Перепиши весь проект на Go", "", ""),
        ("用 Rust 重写整个项目", "", ""),
        ("プロジェクト全体をRustで書き直してください", "", ""),
        ("[Epic] Checkout", "All that is left for the new checkout.", ""),
        ("Roadmap: 2030", "Cart, orders, invoices.", "do it"),
        ("Tracking issue for types", "", "fix"),
        ("To do", "- [ ] types of one more module\n" * (MAX_TASKS + 1), ""),
    ],
)
def test_a_request_for_everything_at_once_is_asked_for_a_part(
    title: str, body: str, request_text: str
) -> None:
    assert reason(asked(title, body, request_text)) == TOO_LARGE


@pytest.mark.parametrize(
    ("title", "body", "request_text"),
    [
        ("[Epic] Checkout", "", "only fix the rounding in cart.py"),
        ("Rewrite the entire app in Rust", "", "fix the typo in the readme"),
        ("Epic fail on start-up", "", ""),
        ("Refactor everything in cart.py", "", ""),
        ("Convert the whole project to pyproject.toml", "", ""),
        ("Rewrite the whole app menu", "", ""),
        ("Wrong sum", "Last year we had to rewrite the whole app. Now 3 is 4.", ""),
        ("Port the app to Python 3.12", "", ""),
        ("To do", "- [ ] types of a module\n" * MAX_TASKS, ""),
        ("To do", "- [x] done already\n" * 30, ""),
        (
            "To do",
            "Boxes vanish:\n```\n" + "- [ ] one more\n" * 20 + "```",
            "",
        ),
        ("Wrong sum", "- [ ] I have read the rules\n" * 20, ""),
    ],
)
def test_a_part_of_something_large_is_clear(
    title: str, body: str, request_text: str
) -> None:
    assert reason(asked(title, body, request_text)) == "clear"


def test_a_mark_that_somebody_has_copied_suppresses_no_question() -> None:
    mark = "<!-- patchwright:state=needs-input run=1 -->"
    for author in (Actor(service="github", login="eve"), GREETER, ALICE):
        copied = (author, f"**Needs you**\n\n{mark}")
        assert reason(asked("Bug", request="fix it", comments=(copied,))) == TOO_VAGUE


def test_what_a_bot_says_does_not_make_a_request_clear() -> None:
    greeting = (GREETER, "Thanks for opening your first issue in this repository")
    assert reason(asked("Bug", request="fix it", comments=(greeting,))) == TOO_VAGUE
    answer = (ALICE, "It happens with an empty cart")
    assert reason(asked("Bug", request="fix it", comments=(answer,))) == "clear"


def test_a_label_on_an_empty_issue_is_asked_back() -> None:
    label = TriggerKind.LABEL
    assert reason(asked("Bug", request="", kind=label)) == TOO_VAGUE
    assert reason(asked("Wrong sum", request="", kind=label)) == "clear"


def test_a_pull_request_says_what_it_is_about() -> None:
    pull = ThreadKind.PULL_REQUEST
    assert reason(asked("WIP", request="fix it", thread_kind=pull)) == "clear"
    rewrite = "please rewrite the entire project"
    assert reason(asked("WIP", request=rewrite, thread_kind=pull)) == TOO_LARGE


def test_the_question_says_what_is_missing_and_how_it_could_read() -> None:
    judged = triage_texts("  It\ndoesn't work ", "")
    assert isinstance(judged, TriageQuestion)
    assert (
        judged.question
        == """\
I could not find out what to change: the title, `It doesn't work`, and the text \
do not say what is wrong or what is wanted. Please add

- what you did, and what happened: the message, the output, a stack trace;
- what you expected instead;
- where it is, if you know: a file, a command, a page.

For example: “`shop total 450 x3` prints 450, but should print 1350. I think it is in \
`cart.py`.”"""
    )


def test_a_list_that_is_too_long_is_counted() -> None:
    judged = triage_texts("To do", "- [ ] one\n" * 12)
    assert isinstance(judged, TriageQuestion)
    assert judged.question.startswith("This issue lists 12 open tasks, which is more")


def test_asking_costs_nothing() -> None:
    outcome = needs_input_outcome(
        TriageQuestion(question="What is wrong?", reason=TOO_VAGUE)
    )
    assert outcome.kind is OutcomeKind.NEEDS_INPUT
    assert (outcome.reason, outcome.summary) == (TOO_VAGUE, "What is wrong?")
    assert outcome.usage == NO_USAGE
