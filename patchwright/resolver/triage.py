"""Check that a request is clear enough and not too large, before a model is paid."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from patchwright.core.channel import Channel
from patchwright.core.text.escape import inline_code
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import Thread, ThreadPost, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, service_outcome

# Text that shows a concrete problem. Each word is tried only once, from its beginning:
# from each of its letters, a long word would take quadratic time.
_CONCRETE = re.compile(
    r"`|https?://|!\[|(?<!\w)#\d+"  # code, addresses, pictures, other issues
    r"|(?<![\w-])[\w-]++\.[A-Za-z]\w{0,9}\b"  # files
    r"|(?<![\w.-])[\w.-]++/[\w./-]"  # folders
    r"|\b(?:make|npm|yarn|go|cargo) (?:test|check|build|run|lint|install)\b"
    r"|\w\(\)|[a-z][A-Z]|\w_\w|\w::\w"  # names in code
    r"|[A-Za-z](?:Error|Exception)\b|Traceback|\bat line \d+|:\d+:"  # from a log
    r"|\b\d+(?:\.\d+)+\b|\b\d{3,}\b"  # versions, codes, amounts
    r"|[\"“”„«»「」『』].+[\"“”„«»「」『』]"  # wording that is quoted
)
_QUESTION = re.compile(r"[?？؟]")  # noqa: RUF001 - as people type it
_MENTION = re.compile(r"(?<!\w)@[\w-]+(?:\[bot\])?")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")  # noqa: RUF001 - as people type it
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u097f]+[^\W\d_]*)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")

# An issue form that nobody has filled in: its hints, check boxes and empty answers.
_FORM = re.compile(
    r"[\s*#]*(?:A clear and concise description of .*"
    r"|(?:If applicable, )?add (?:screenshots|any other context).*"
    r"|Is your feature request related to .*|(?:Desktop|Smartphone) \(please .*"
    r"|\d\.\s+(?:Go to|Click on|Scroll down to) '\.*'|\d\.\s+See error"
    r"|-? ?(?:OS|Browser|Version|Device):? \[e\.g\. .*|n/a"
    r"|[-*]\s+\[[ xX]\]\s+(?:I|I['’]ve|Yes|This issue)\b.*)[\s*:]*",  # noqa: RUF001 - as typed
    re.IGNORECASE,
)


def drop_mentions(text: str) -> str:
    """Return what people see of a text, without the names that it calls."""
    return _MENTION.sub(" ", strip_hidden(text).text)


def has_substance(text: str) -> bool:
    """Tell whether a text names, shows or asks something, in any language."""
    visible = drop_mentions(text)
    if _CONCRETE.search(visible) or _QUESTION.search(visible):
        return True
    return any(
        map(_says_something, _WORD.findall(_APOSTROPHE.sub("", visible.lower())))
    )


def without_form(text: str) -> str:
    """Return a text without the parts that come from an issue form."""
    lines = strip_hidden(text).text.split("\n")
    return "\n".join(line for line in lines if not _FORM.fullmatch(line))


def _says_something(word: str) -> bool:
    if word in _empty_words():
        return False
    if not _UNSPACED.search(word):
        return True
    for part in _empty_parts():
        word = word.replace(part, "")
    return bool(word)


@cache
def _empty_words() -> frozenset[str]:
    text = files("patchwright.resolver").joinpath("empty_words.txt")
    lines = text.read_text(encoding="utf-8").splitlines()
    return frozenset(
        w for line in lines if not line.startswith("#") for w in line.split()
    )


@cache
def _empty_parts() -> tuple[str, ...]:
    """Return the words of languages without spaces, the longest first."""
    parts = (word for word in _empty_words() if _UNSPACED.search(word))
    return tuple(sorted(parts, key=len, reverse=True))


MAX_TASKS = 10
# Later parts of a text are about something else.
_BEGINNING = 400


def find_oversized_request(request: str, title: str, text: str) -> str | None:
    """Return the question to ask if the request is too large, or None.

    `request` is empty if the issue itself asks. A request for one part of a large issue
    is only about that part.
    """
    if request and has_substance(request):
        title, text = "", request
    if _asks_for_everything(title) or _asks_for_everything(text):
        return f"{_WHOLE_WORDS} {_ONE_STEP}"
    if _EPIC.match(title):
        return f"{_EPIC_WORDS} {_ONE_STEP}"
    tasks = _count_tasks(text)
    if tasks > MAX_TASKS:
        return f"{_LIST_WORDS.format(tasks=tasks)} {_ONE_STEP}"
    return None


_WHOLE_WORDS = "This is more than one pull request can hold and one person can review."
_EPIC_WORDS = "This thread collects work for many pull requests."
_LIST_WORDS = (
    "This issue lists {tasks} open tasks, which is more than one pull request should "
    "hold."
)
_ONE_STEP = (
    "Which part should I begin with? Please name one that can be reviewed alone, for "
    "example: “Only move `cart.py`, with its tests; leave the rest as it is.” It works "
    "best with a separate issue for each part."
)

_EPIC = re.compile(
    r"\W*(?:epic|umbrella|roadmap|meta|tracking(?: issue)?)\s*[\]):–—-]"  # noqa: RUF001 - as typed
    r"|\W*tracking issue\b|\W*roadmap\W*$",
    re.IGNORECASE,
)
_START = (
    r"(?:^|[.!?:;\n])[\W_]*"
    r"(?:(?:please|pls|hi|hello|hey|can you|could you|would you|let'?s"
    r"|we (?:should|must|need to|want to)|i (?:want|need|would like) you to"
    r"|bitte|könntest du|por favor|s'il vous plaît|per favore),?\s+)*"
)
_WRITE_ANEW = (
    r"(?:re-?write|re-?implement|réécri\w+|reescrib\w+|reescrev\w+|riscriv\w+"
    r"|перепиш\w+)"
)
_REMAKE = (
    rf"(?:{_WRITE_ANEW}|re-?build|re-?design|re-?do|re-?factor|port|migrate|convert"
    r"|translate|modernize|modernise|schreib\w*|programmier\w*)"
)
_WHOLE = (
    r"(?:whole|entire|complete|full|all(?: of)?|ganze[nrs]?|gesamte[nrs]?"
    r"|komplette[nrs]?|toute?|tod[oa]|tutt[oa]|inteir[oa]|вс[её]|весь)"
)
_PRODUCT = (
    r"(?:app|application|code|code-?base|code base|repo|repository|project|program"
    r"|product|system|platform|software|backend|frontend|front-end|back-end|site"
    r"|website|anwendung|projekt|programm|système|projet|proyecto|aplicación|código"
    r"|projeto|aplicativo|progetto|applicazione|проект|приложение|код)"
)
# The next word must not name a part: "the whole app menu", "all code comments".
_ENDS = (
    r"(?=\s*(?:$|[.,!?;:)\n])"
    r"|\s+(?:to|in|into|from|using|with|so|please|nach|auf|en|em|à|vers|на|neu)\b)"
)
_EVERYTHING = re.compile(
    rf"{_START}(?:{_REMAKE}\s+(?:\w+\s+){{0,2}}{_WHOLE}\s+(?:\w+\s+){{0,2}}{_PRODUCT}{_ENDS}"
    rf"|{_REMAKE}\s+(?:everything{_ENDS}|alles\s+neu\b)"
    rf"|{_WRITE_ANEW}\s+\w+\s+{_PRODUCT}\s+(?:in|en|em|from\s+scratch|на)\b)"
    r"|(?:^|[。！\n])[^。！\n]{0,12}(?:重写|重構|重构|改写)(?:整个|全部|所有)"  # noqa: RUF001 - as typed
    r"|(?:プロジェクト|アプリ|コード)全体を?.{0,12}書き(?:直|換)",
    re.IGNORECASE,
)
_BOUNDED = re.compile(r"(?<![\w-])[\w-]++\.[A-Za-z]\w{0,5}\b(?!\.)|\w/\w|`")


def _asks_for_everything(text: str) -> bool:
    beginning = text[:_BEGINNING]
    found = _EVERYTHING.search(beginning)
    if found is None:
        return False
    # A sentence that names a file asks only for that file.
    line = beginning[found.start() :].lstrip().partition("\n")[0]
    return not _BOUNDED.search(line)


_TASK = re.compile(r"\s*[-*+]\s+\[ \]\s+\S")


def _count_tasks(text: str) -> int:
    """Count the open check boxes of a task list, without those of an issue form."""
    source = read_markdown(without_form(text))
    shown = source.text
    for piece in reversed(source.pieces):
        if piece.kind is PieceKind.FENCE:
            shown = shown[: piece.start] + shown[piece.end :]
    return sum(bool(_TASK.match(line)) for line in shown.split("\n"))


TOO_VAGUE, TOO_LARGE = "too-vague", "too-large"
# This mark is in each of our comments that asked a question.
_HAS_ASKED = f"<!-- patchwright:state={OutcomeKind.NEEDS_INPUT} "


class ClearRequest(Value):
    """The request is clear: the work can begin."""


class TriageQuestion(Value):
    """The question to the person who made the request; `reason` is a short code."""

    question: str
    reason: str


def triage(
    thread: Thread, trigger: Trigger, tied: Sequence[Thread] = ()
) -> ClearRequest | TriageQuestion:
    """Check a request together with the thread, as it was at the time of the request.

    `tied` are the other threads of its conversation: their texts count too.
    """
    opening, *comments = thread.posts
    by_comment = trigger.kind is TriggerKind.COMMENT_MENTION
    request = trigger.request if by_comment else ""
    if thread.ref.kind.is_pull:
        # The change itself says what it is about.
        return (
            triage_texts("", "", request) if has_substance(request) else ClearRequest()
        )
    texts = [
        *_by_people(comments),
        *(text for one in tied for text in _thread_texts(one)),
    ]
    return triage_texts(thread.title, opening.text, request, texts)


def has_asked(channel: Channel, ref: ThreadRef) -> bool:
    """Tell whether we have asked in a thread already: we ask only once.

    After that, the run works with the texts that it has. A mark in another person's
    comment does not count.
    """
    return channel.find_post(ref, _HAS_ASKED) is not None


def triage_texts(
    title: str, text: str, request: str = "", said: Sequence[str] = ()
) -> ClearRequest | TriageQuestion:
    """Check an issue and other texts; `request` is empty if the issue itself asks."""
    if too_large := find_oversized_request(request, title, text):
        return TriageQuestion(question=too_large, reason=TOO_LARGE)
    if any(has_substance(part) for part in (title, request, *said)):
        return ClearRequest()
    if has_substance(without_form(text)):
        return ClearRequest()
    return TriageQuestion(question=_vague_question(title), reason=TOO_VAGUE)


def needs_input_outcome(asked: TriageQuestion, *, waits: bool = False) -> Outcome:
    """Return the outcome of a run that asks a question before it begins."""
    return service_outcome(
        OutcomeKind.NEEDS_INPUT, asked.reason, asked.question, waits=waits
    )


def _thread_texts(thread: Thread) -> list[str]:
    return [thread.title, *(post.text for post in thread.posts)]


def _by_people(comments: Sequence[ThreadPost]) -> list[str]:
    """Return the texts of people: a bot's greeting says nothing about the problem."""
    return [post.text for post in comments if not post.author.is_bot]


def _vague_question(title: str) -> str:
    shown = " ".join(title.split())
    of_title = f", {inline_code(shown)}," if shown else ""
    return (
        f"I could not find out what to change: the title{of_title} and the text do not "
        "say what is wrong or what is wanted. Please add\n\n"
        "- what you did, and what happened: the message, the output, a stack trace;\n"
        "- what you expected instead;\n"
        "- where it is, if you know: a file, a command, a page.\n\n"
        "For example: “`shop total 450 x3` prints 450, but should print 1350. I think "
        "it is in `cart.py`.”"
    )
