"""What a refusal means, and what to do next when a run ends or waits."""

import re
from typing import Final, assert_never

from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import dollars
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import (
    CONTRADICTED,
    Limits,
    Outcome,
    WaitReason,
)
from patchwright.resolver.messages.outcome_kinds import ASK_AGAIN, display_of
from patchwright.resolver.messages.proof_words import advice_on_proof
from patchwright.resolver.messages.readers import (
    Reader,
    requester_advice,
    requester_words,
)
from patchwright.resolver.messages.status import DeliveryResult


class KnownRefusal(Value):
    """The rule that stands in the way, and what helps; empty where it is not known."""

    rule: str = ""
    advice: str = ""


_PULL_REQUESTS: Final = (
    "Tick “Allow GitHub Actions to create and approve pull requests” in the settings "
    "of the repository or the organization, or give the bot its own token."
)
# Stands for the name of the repository's own file.
_FILE: Final = "{file}"
_RULES: Final = "Allow the bot to bypass that rule, or exempt its branches from it."
# Stands for what a rule demands, as the service wrote it.
_PATTERN: Final = "{pattern}"
_PUSH_RULE: Final = (
    "Change that push rule of the project, or apply the patch as it demands."
)
# In the order in which they are looked for: the first that fits counts. The words are
# the services' own, of their pages and of what they answer:
# https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules
_KNOWN_REFUSALS: Final = (
    (
        r"not permitted to create or approve pull requests",
        "GitHub Actions cannot open pull requests here",
        _PULL_REQUESTS,
    ),
    (
        r"without `?workflows?`? (?:permission|scope)",
        "the bot needs a permission to change workflow files",
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
        "Check the change and remove the secret.",
    ),
    # Push rules: https://docs.gitlab.com/user/project/repository/push_rules/
    (
        r"[Bb]ranch name .*does not follow the pattern '(?P<pattern>.*)'",
        f"a push rule demands that names of branches match {_PATTERN}",
        f"Set such a name: `branch` in {_FILE}.",
    ),
    (
        r"[Cc]ommit message .*does not follow the pattern '(?P<pattern>.*)'",
        f"a push rule demands that commit messages match {_PATTERN}",
        _PUSH_RULE,
    ),
    (
        r"[Cc]ommit message .*contains the forbidden pattern '(?P<pattern>.*)'",
        f"a push rule forbids commit messages that match {_PATTERN}",
        _PUSH_RULE,
    ),
    (
        r"email '.*' does not follow the pattern '(?P<pattern>.*)'",
        f"a push rule demands that mail addresses of authors match {_PATTERN}",
        "Give the bot's user such an address, or change that push rule of the project.",
    ),
    (
        r"is not a member of team|You can only push commits if the committer",
        "a push rule demands that authors are verified members",
        "Give the bot's user the address that it commits with, and verify it.",
    ),
    (
        r"[Ff]ile name \S+ was prohibited by the pattern '(?P<pattern>.*)'",
        f"a push rule forbids files whose names match {_PATTERN}",
        _PUSH_RULE,
    ),
    (
        r"is larger than the allowed size of (?P<pattern>[\d.]+ [KMG]i?B)",
        f"a push rule forbids files larger than {_PATTERN}",
        "Store it in another place, or with Git LFS.",
    ),
    (
        r"[Cc]ommit must be signed",
        "commits must be signed",
        "Set `signing_key` to the key of the bot's account.",
    ),
    (
        r"must contain a DCO signoff",
        "commits must be signed off",
        _PUSH_RULE,
    ),
    (
        r"creations being restricted",
        "new branches with this name are not allowed",
        f"{_RULES} Or set another name: `branch` in {_FILE}.",
    ),
    (
        r"[Cc]hanges must be made through a pull request|GH006|[Pp]rotected branch",
        "the branch is protected",
        (
            "The bot does not write to protected branches. Ask in an issue: then it "
            "uses its own branch."
        ),
    ),
    (
        r"GH001|exceeds GitHub's file size limit|[Ll]arge files detected",
        "a file is larger than the service allows",
        "Store it in another place, or with Git LFS.",
    ),
    (
        r"GH008|unknown Git LFS objects|LFS objects are missing",
        "a Git LFS file was not uploaded",
        "Apply the patch on a machine with Git LFS.",
    ),
    (
        r"GH013|[Rr]epository rule violations|push declined due to repository rule",
        "a rule of the repository forbids it",
        _RULES,
    ),
    (
        r"archived so (?:it )?is read-only|archived project",
        "the repository is archived",
        "Unarchive it, then ask again.",
    ),
    (
        r"SAML enforcement|SAML SSO",
        "the organization requires single sign-on",
        "Authorize the bot's token for the organization.",
    ),
    (
        r"IP allow list",
        "the organization allows only requests from listed addresses",
        "Add the address of the bot's host to that list.",
    ),
    (
        r"No commits between",
        "the branch has no new commits",
        "The base branch already has the change.",
    ),
    (
        (
            r"\bbase: invalid|\bbase\b.*(?:does not exist|not found)"
            r"|\btarget.branch\b.*does not exist"
        ),
        "the target branch does not exist any more",
        f"Set another branch: `base` in {_FILE}.",
    ),
    (
        r"\bhead: invalid|\bsource.branch\b.*does not exist",
        "the branch of the change does not exist any more",
        "Somebody deleted it; ask again.",
    ),
    (
        r"pull request already exists",
        "this branch already has a pull request",
        "It shows the change: see the list of open pull requests.",
    ),
    (
        r"not allowed to push code to this project|not allowed to upload code",
        "the bot has no permission for this",
        "Give its user the role “Developer” in this project.",
    ),
    (
        (
            r"not accessible by|denied to|[Ww]rite access to repository not granted"
            r"|credential does not allow|Must have (?:admin|push|write)"
        ),
        "the bot has no permission for this",
        (
            "Give the App `contents: write` and `pull_requests: write` for this "
            "repository (a token: the role “write”)."
        ),
    ),
    (
        r"Bad credentials|credential is not accepted",
        "the bot's credential is no longer valid",
        "Renew the token in the settings of the service, or install the App again.",
    ),
)

# A person who tries it by hand is refused as well.
_REFUSES_EVERYBODY: Final = frozenset(
    {
        "the repository is archived",
        "the branch has no new commits",
        "the target branch does not exist any more",
        "the branch of the change does not exist any more",
        "this branch already has a pull request",
    }
)


def explain_refusal(text: str, config_file: str = CONFIG_FILE) -> KnownRefusal:
    """Return the rule behind what a service or git said, if it is a known one."""
    for pattern, rule, advice in _KNOWN_REFUSALS:
        if found := re.search(pattern, text):
            demanded = inline_code(found.groupdict().get("pattern") or "")
            told = advice.replace(_FILE, inline_code(config_file))
            return KnownRefusal(rule=rule.replace(_PATTERN, demanded), advice=told)
    return KnownRefusal()


def refusal_words(
    refusal: str,
    config_file: str = CONFIG_FILE,
    reader: Reader = Reader.OPERATOR,
) -> str:
    """Say a refusal in our words; an unknown refusal is shown unchanged."""
    known = explain_refusal(refusal, config_file)
    if not known.rule:
        return refusal
    advice = requester_words(known.rule) if reader is Reader.REQUESTER else ""
    return f"{known.rule[0].upper()}{known.rule[1:]}. {advice or known.advice}"


def refuses_everybody(refusal: str) -> bool:
    """Tell whether a person would be refused in the bot's place."""
    return explain_refusal(refusal).rule in _REFUSES_EVERYBODY


_NUMBERED: Final = re.compile(r"^ {0,3}(\d{1,2})[.)] +\S", re.MULTILINE)
_FEWEST_CHOICES: Final = 2


def next_step(
    outcome: Outcome,
    delivered: DeliveryResult,
    handle: str,
    limits: Limits,
    config_file: str = CONFIG_FILE,
    *,
    reader: Reader,
) -> str:
    """Say in a sentence what the reader can do, or return nothing where all is done.

    A run that waits takes a plain reply for the answer, so that no mention is needed.
    """
    if delivered.refusal:
        is_advised = refusal_words(delivered.refusal) != delivered.refusal
        return "" if delivered.compare_url or is_advised else _AFTER_REFUSAL
    if outcome.waits:
        return _how_to_answer(outcome)
    if outcome.kind is OutcomeKind.RESOLVED and outcome.proof is not Proof.PROVEN:
        level, report = outcome.proof, outcome.proof_report
        helps = advice_on_proof(level, report, config_file)
        careful = "Review carefully: no test proves this change."
        return f"{careful} {helps}".rstrip()
    general = display_of(outcome.kind).advice
    advice = requester_advice(outcome) if reader is Reader.REQUESTER else ""
    advice = advice or _ADVICE_BY_REASON.get(outcome.reason, general)
    return advice.format(
        handle=handle,
        cost=dollars(limits.max_cost_usd),
        steps=limits.max_iterations,
        tokens=f"{limits.max_tokens:,}",
        minutes=f"{limits.max_minutes:g}",
    )


def choices(text: str) -> tuple[int, ...]:
    """Return the numbers of the choices that a question offers, from 1 up."""
    numbers = [int(found) for found in _NUMBERED.findall(text)]
    is_list = numbers == list(range(1, len(numbers) + 1))
    return tuple(numbers) if is_list and len(numbers) >= _FEWEST_CHOICES else ()


def _how_to_answer(outcome: Outcome) -> str:
    reason = outcome.wait_reason
    match reason:
        case WaitReason.CONFIRMATION:
            return (
                "Reply `approve` or `reject`. Any other reply rejects it and is passed "
                "to the agent."
            )
        case WaitReason.PLAN:
            return (
                "Reply `approve` to start, `reject` to cancel, or say what to change."
            )
        case WaitReason.PAUSED:
            return "Reply `resume` to continue the run, or `stop` to end it."
        case WaitReason.QUESTION:
            # Those of the service say themselves how they are answered.
            is_complete = outcome.reason in _TELL_HOW
            return "" if is_complete else _how_to_choose(outcome.summary)
        case _:
            assert_never(reason)


# The reasons of `QuestionReason`, which is among those who use the messages.
_TELL_HOW: Final = frozenset(
    {
        "no-access",
        "no-consent",
        "no-repository",
        "not-linked",
        "several-repositories",
    }
)


def _how_to_choose(question: str) -> str:
    numbers = choices(question)
    if not numbers:
        return "Reply here with your answer. The run waits for it and costs nothing."
    *first, last = (f"`{number}`" for number in numbers)
    return (
        f"Reply {', '.join(first)} or {last}, or write your own answer. The run waits "
        "for it and costs nothing."
    )


_AFTER_REFUSAL: Final = "Change that rule or the bot's permissions, then ask again."
_NEXT_DAY: Final = "or ask again tomorrow (UTC) with `{handle}`."
_ADVICE_BY_REASON: Final = {
    CONTRADICTED: "Do not merge it like this. Fix the change or its test, or say what "
    f"is right and {ASK_AGAIN}",
    "protected-paths": "If the change is right, apply it yourself, or allow these "
    f"paths and {ASK_AGAIN}",
    "budget-of-person": f"Raise `limits.per_user_day_usd`, {_NEXT_DAY}",
    "budget-of-repository": f"Raise `limits.per_repo_day_usd`, {_NEXT_DAY}",
    "budget-of-day": f"Raise `limits.per_day_usd`, {_NEXT_DAY}",
    "price-unknown": "Set the price of the model in `llm.input_cost_per_token` and "
    f"`llm.output_cost_per_token`, then {ASK_AGAIN}",
    "tokens": "Raise `limits.max_tokens`, which is {tokens} now, or narrow the "
    f"request, then {ASK_AGAIN}",
}
