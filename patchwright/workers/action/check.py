"""Hold the condition of the caller's workflow against what the Action listens to.

A workflow asks for the phrase in its `if:` before a job starts, and the Action asks
again. Where the two differ, nothing runs and nothing is said.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

# A text of somebody's, held against a word that stands in the workflow itself.
_PHRASE_CONDITION: Final = re.compile(
    r"\b(?:contains|startsWith)\(\s*[^()]*\.body\b[^(),]*,\s*'((?:[^']|'')*)'\s*\)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class WorkflowCheck:
    """The phrases that a workflow lets through, and the one that is listened to."""

    workflow_phrases: tuple[str, ...]
    phrase: str

    @property
    def is_sound(self) -> bool:
        """Tell whether a text with the phrase gets through, as far as can be read.

        A workflow without phrases lets everything through, or has them elsewhere.
        """
        heard = self.phrase.lower()
        return not self.workflow_phrases or any(one.lower() in heard for one in self.workflow_phrases)

    def __str__(self) -> str:
        shown = ", ".join(f"`{one}`" for one in self.workflow_phrases) or "no phrase of its own"
        told = f"the workflow's `if:` asks for {shown}, the Action for `{self.phrase}`"
        if self.is_sound:
            return told
        return (
            f"{told}: no text has both, and so nobody is ever answered. Write the same "
            "in both: the input `trigger-phrase`, and the `if:` of the workflow."
        )


def check_workflow(workflow: str, phrase: str) -> WorkflowCheck:
    """Read the phrases in the conditions of a workflow; what is no YAML has none."""
    try:
        document = yaml.safe_load(workflow)
    except yaml.YAMLError:
        return WorkflowCheck((), phrase)
    conditions = _conditions(document)
    found = [
        one.replace("''", "'") for if_ in conditions for one in _PHRASE_CONDITION.findall(if_)
    ]
    return WorkflowCheck(tuple(dict.fromkeys(found)), phrase)


def find_workflow(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return path and commit of the workflow that runs; None where nothing says.

    https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    """
    path, _, ref = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")
    own = f"{environ.get('GITHUB_REPOSITORY')}/"
    if not ref or not path.startswith(own):
        return None
    return path.removeprefix(own), environ.get("GITHUB_WORKFLOW_SHA") or ref


def _conditions(document: Any) -> Iterator[str]:  # noqa: ANN401 - YAML as it comes
    jobs = document.get("jobs") if isinstance(document, dict) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        if not isinstance(job, dict):
            continue
        steps = job.get("steps")
        for part in (job, *(steps if isinstance(steps, list) else ())):
            if isinstance(part, dict) and "if" in part:
                yield str(part["if"])
