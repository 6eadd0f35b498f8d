"""Tell whether a request asks for more than one pull request can hold."""

import re

from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.resolver.substance import has_substance, without_form

MAX_TASKS = 10
# Further down a text tells of something else.
_BEGINNING = 400


def find_oversized_request(request: str, title: str, text: str) -> str | None:
    """Return what to ask if it is too much, or None.

    `request` is empty where the issue itself asks. Who asks for a part of something
    large asks for that part alone.
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
    "example: “Only move `cart.py` over, with its tests; leave the rest as it is.” An "
    "issue of its own for each part works best."
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
# What follows must not make it a part: "the whole app menu", "all code comments".
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
    # A sentence that names a file asks for no more than that.
    line = beginning[found.start() :].lstrip().partition("\n")[0]
    return not _BOUNDED.search(line)


_TASK = re.compile(r"\s*[-*+]\s+\[ \]\s+\S")


def _count_tasks(text: str) -> int:
    """Count the open boxes of a list of tasks; those of a form are none."""
    source = read_markdown(without_form(text))
    shown = source.text
    for piece in reversed(source.pieces):
        if piece.kind is PieceKind.FENCE:
            shown = shown[: piece.start] + shown[piece.end :]
    return sum(bool(_TASK.match(line)) for line in shown.split("\n"))
