"""Say what a refusal means, and what who reads of it can do."""

import re
from typing import Final

from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.text.fence import inline_code
from patchwright.core.types.base import Value


class KnownRefusal(Value):
    """The rule that stands in the way, and what helps; empty where it is not known."""

    rule: str = ""
    advice: str = ""


_PULL_REQUESTS: Final = (
    "Tick “Allow GitHub Actions to create and approve pull requests” in the settings "
    "of the repository or the organization, or give the bot a token of its own."
)
# Stands for the name of the repository's own file.
_FILE: Final = "{file}"
_RULES: Final = "Let the bot bypass that rule, or exempt its branches from it."
# In the order in which they are looked for: the first that fits counts. The words are
# GitHub's own, of its pages and of what it answers:
# https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules
_KNOWN_REFUSALS: Final = (
    (
        r"not permitted to create or approve pull requests",
        "GitHub Actions may not open pull requests here",
        _PULL_REQUESTS,
    ),
    (
        r"without `?workflows?`? (?:permission|scope)",
        "workflow files may only be changed with the permission for it",
        (
            "Give the App the permission `workflows: write` (a token: the scope "
            "`workflow`), or apply the change yourself."
        ),
    ),
    (
        r"must have verified signatures|signed commits|signatures? (?:is|are) required",
        "commits must be signed",
        (
            "Set `github.commit_signing` to `api`, or to `ssh` with the key of an "
            "account in `github.signing_key`."
        ),
    ),
    (
        r"GH009|GITHUB PUSH PROTECTION|[Pp]ush cannot contain secrets|Secrets detected",
        "push protection has found a secret",
        "Have a look at the change before anything else is done with it.",
    ),
    (
        r"creations being restricted",
        "new branches of this name may not be made",
        f"{_RULES} Or choose another name: `branch` in {_FILE}.",
    ),
    (
        r"[Cc]hanges must be made through a pull request|GH006|[Pp]rotected branch",
        "the branch is protected",
        (
            "The bot writes to no protected branch. Ask in an issue, for a branch of "
            "its own."
        ),
    ),
    (
        r"GH001|exceeds GitHub's file size limit|[Ll]arge files detected",
        "a file is larger than GitHub takes",
        "Keep it elsewhere, or with Git LFS.",
    ),
    (
        r"GH008|unknown Git LFS objects",
        "a file that Git LFS should keep was not uploaded",
        "Apply the patch where Git LFS is installed.",
    ),
    (
        r"GH013|[Rr]epository rule violations|push declined due to repository rule",
        "a rule of the repository forbids it",
        _RULES,
    ),
    (
        r"archived so (?:it )?is read-only",
        "the repository is archived",
        "Unarchive it, then ask again.",
    ),
    (
        r"SAML enforcement|SAML SSO",
        "the organization asks for single sign-on",
        "Authorize the bot's token for the organization.",
    ),
    (
        r"IP allow list",
        "the organization takes requests from listed addresses alone",
        "Add the address of the bot's host to that list.",
    ),
    (
        r"No commits between",
        "the branch holds nothing new",
        "The change is in the base branch already.",
    ),
    (
        r"\bbase: invalid|\bbase\b.*(?:does not exist|not found)",
        "the branch that the change is meant for is gone",
        f"Name another one: `base` in {_FILE}.",
    ),
    (
        r"\bhead: invalid",
        "the branch of the change is gone",
        "Somebody has removed it; ask again.",
    ),
    (
        r"pull request already exists",
        "there is a pull request for this branch already",
        "It shows the change: have a look at the list of open pull requests.",
    ),
    (
        (
            r"not accessible by|denied to|[Ww]rite access to repository not granted"
            r"|credential does not allow|Must have (?:admin|push|write)"
        ),
        "the bot has no right to do this",
        (
            "Give the App `contents: write` and `pull_requests: write` for this "
            "repository (a token: the role “write”)."
        ),
    ),
    (
        r"Bad credentials|credential is not accepted",
        "the bot's credential is not accepted any more",
        "Renew `github.token`, or install the App again.",
    ),
)

# Whoever tries it by hand is refused as well.
_REFUSES_EVERYBODY: Final = frozenset(
    {
        "the repository is archived",
        "the branch holds nothing new",
        "the branch that the change is meant for is gone",
        "the branch of the change is gone",
        "there is a pull request for this branch already",
    }
)


def explain_refusal(text: str, config_file: str = CONFIG_FILE) -> KnownRefusal:
    """Return the rule behind what a service or git said, if it is a known one."""
    for pattern, rule, advice in _KNOWN_REFUSALS:
        if re.search(pattern, text):
            told = advice.replace(_FILE, inline_code(config_file))
            return KnownRefusal(rule=rule, advice=told)
    return KnownRefusal()


def refusal_words(refusal: str, config_file: str = CONFIG_FILE) -> str:
    """Say a refusal in our words; what is not known is told as it came."""
    known = explain_refusal(refusal, config_file)
    if not known.rule:
        return refusal
    return f"{known.rule[0].upper()}{known.rule[1:]}. {known.advice}"


def refuses_everybody(refusal: str) -> bool:
    """Tell whether a person would be refused in the bot's place."""
    return explain_refusal(refusal).rule in _REFUSES_EVERYBODY
