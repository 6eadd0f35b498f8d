"""Show the agent which checks have failed, and tell one failure from another."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from patchwright.core.forge import Checks, FailedCheck
from patchwright.core.text.cleaner import TextCleaner
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import as_data
from patchwright.core.text.steady import normalise_text
from patchwright.resolver.messages.facts import count_noun
from patchwright.resolver.section import TaskSection

MAX_SUMMARY_CHARS: Final = 2_000
MAX_LOG_CHARS: Final = 6_000
MAX_CHECKS: Final = 5
CHECKS_FILE: Final = "checks.md"

# Ids of commits, objects and caches; where in a file, and how much of everything:
# none of that makes another failure. What failed, and how, has words.
_NOISE: Final = re.compile(
    r"\b[0-9a-f]{7,64}\b"
    r"|(?<=:)\d+\b|\b(?:line|lines|L) ?\d+\b"
    r"|\b\d+(?:[.,]\d+)? ?(?:lines?|bytes|[kKMG]i?B|B|%|passed|skipped|deselected"
    r"|warnings?|files?|tests?|items?)(?!\w)"
)
_BLANKS: Final = re.compile(r"\s+")


def checks_section(checks: Checks, cleaner: TextCleaner) -> TaskSection:
    """Write down what failed, the end of each log; what others printed is data."""
    if not checks.failed:
        return TaskSection()
    cleaned = [_clean_check(check, cleaner) for check in checks.failed]
    shown = cleaned[:MAX_CHECKS]
    whole = len(shown) == len(cleaned) and not any(map(_is_long_check, shown))
    parts = [
        _checks_summary(cleaned),
        *(_check_text(check) for check in shown),
        "" if whole else f"All of them, whole: /workspace/context/{CHECKS_FILE}.",
    ]
    return TaskSection(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {CHECKS_FILE: _checks_transcript(cleaned)},
    )


def fingerprint(checks: Checks) -> str:
    """Return what is the same for the same failures, whenever and wherever they ran."""
    told = sorted(
        f"{check.name}\n{_without_noise(check.log or check.summary)}"
        for check in checks.failed
    )
    return sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


def _without_noise(text: str) -> str:
    return _BLANKS.sub(" ", _NOISE.sub("~", normalise_text(text))).strip()


def _clean_check(check: FailedCheck, cleaner: TextCleaner) -> FailedCheck:
    return check.replace(
        name=cleaner.clean_code(check.name),
        summary=cleaner.clean(check.summary),
        log=cleaner.clean_code(check.log),
    )


def _is_long_check(check: FailedCheck) -> bool:
    return len(check.summary) > MAX_SUMMARY_CHARS or len(check.log) > MAX_LOG_CHARS


def _checks_summary(failed: Sequence[FailedCheck]) -> str:
    return (
        f"On the newest commit of this pull request, {count_noun(len(failed), 'check')} "
        "failed. They ran outside your sandbox; find the cause and make sure of it "
        "here before you change anything."
    )


def _check_text(check: FailedCheck) -> str:
    summary = truncate_middle(check.summary, MAX_SUMMARY_CHARS)
    parts = [
        as_data("failed check", "the checks", f"{check.name}\n{summary}".strip()),
        as_data("end of its log", "the checks", _log_end(check.log)) if check.log else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _log_end(log: str) -> str:
    """Keep the end, which has the failure."""
    if len(log) <= MAX_LOG_CHARS:
        return log
    return f"[... cut ...]\n{log[-MAX_LOG_CHARS:]}"


def _checks_transcript(failed: Sequence[FailedCheck]) -> str:
    return "\n\n".join(
        "\n\n".join(
            part
            for part in (f"## {check.name}", check.url, check.summary, check.log)
            if part
        )
        for check in failed
    )
