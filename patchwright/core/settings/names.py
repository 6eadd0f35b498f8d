"""The one name of each thing that people set, in every place, and its former names.

A thing has the name of its key in `.patchwright.toml`, or else of its setting. A
setting has its section in front, the Action writes hyphens, and so does the command
line, which leaves out the unit. A test compares this table with what each place really
reads, and `docs/names.md` shows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Place(StrEnum):
    """A place where people set things."""

    REPOSITORY = "`.patchwright.toml`"
    SETTINGS = "settings"
    ACTION = "Action"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class CommonName:
    """One thing in the places that have it; empty where a place does not have it.

    `reason` says why a place has another name or another default than the others.
    """

    repository: str = ""
    setting: str = ""
    action: str = ""
    option: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        return self.repository or self.setting.rpartition(".")[2] or self.action


def _in_file(name: str, *, option: str = "", reason: str = "") -> CommonName:
    """Return the row of a key of `.patchwright.toml` that is no setting."""
    return CommonName(name, "", name.replace("_", "-"), option, reason)


def _in_section(section: str, name: str, *, option: str = "") -> CommonName:
    """Return the row of a setting that a repository and a workflow can set too."""
    return CommonName(name, f"{section}.{name}", name.replace("_", "-"), option)


COMMON_NAMES: Final = (
    CommonName(
        "model",
        "llm.model",
        "llm-model",
        "--model",
        "the Action has the name of the variable, `LLM_MODEL`",
    ),
    CommonName("", "llm.base_url", "llm-base-url"),
    CommonName("", "llm.api_version", "llm-api-version"),
    CommonName("", "llm.reasoning_effort", "reasoning-effort"),
    CommonName(
        "",
        "llm.fallbacks",
        "llm-fallback-models",
        reason="the setting lists names of `llm.NAME`, the Action lists models",
    ),
    _in_section("limits", "max_cost_usd", option="--max-cost"),
    _in_section("limits", "max_iterations", option="--max-iterations"),
    _in_section("limits", "timeout_minutes", option="--timeout"),
    CommonName("", "limits.unknown_price", "unknown-price"),
    _in_section("security", "min_permission"),
    _in_section("security", "allow_users"),
    _in_section("security", "allow_bots"),
    CommonName("triggers"),
    CommonName("", "github.mention", "mention"),
    CommonName("", "github.label", "label"),
    CommonName("", "github.token", "github-token"),
    CommonName("", "github.api_url", "github-api-url"),
    CommonName(
        "",
        "github.web_url",
        "github-server-url",
        reason="workflows call it `github.server_url`",
    ),
    CommonName("", "github.commit_signing", "commit-signing"),
    _in_file("context_from"),
    _in_section("sandbox", "image"),
    CommonName("", "sandbox.kind", "", "--sandbox", "`kind` needs its section"),
    _in_file("setup"),
    _in_file("on_setup_failure"),
    _in_section("sandbox", "network"),
    _in_section("sandbox", "allow_domains"),
    CommonName(
        "",
        "mcp.servers",
        "mcp-config",
        reason="the Action also takes a file that has the servers",
    ),
    _in_file("instructions"),
    _in_file("test", option="--test"),
    _in_file("evidence"),
    _in_file(
        "plan_approval",
        option="--plan",
        reason="a command cannot wait for an approval: it only shows the plan",
    ),
    _in_file(
        "deliver",
        option="--deliver",
        reason="each has its own default: a pull request, ready only if the change is "
        "proven (service), a draft (Action), or a branch (command line)",
    ),
    _in_file("base"),
    _in_file("branch"),
    _in_file("title"),
    _in_file("body"),
    _in_file("reviewers"),
    _in_file("labels"),
    _in_file("assign_requester"),
    _in_file("co_author"),
    _in_file("protected_paths"),
    _in_file("progress_comment"),
    CommonName("ci_rounds"),
    CommonName("", "", "issue-number", "--issue"),
    CommonName("", "", "task", "--task"),
    CommonName("", "", "task-file", "--file", "a file can have nothing but the task"),
    CommonName(
        "",
        "",
        "fail-on",
        "--fail-on",
        "a step fails if something broke, a command also if nothing is resolved",
    ),
)

# Each works for one more release.
FORMER_NAMES: Final[Mapping[Place, Mapping[str, str]]] = MappingProxyType(
    {
        Place.REPOSITORY: {"pr": "deliver"},
        Place.SETTINGS: {
            "jira.flavour": "jira.type",
            "jira.poll_s": "jira.poll_seconds",
            "limits.max_minutes": "limits.timeout_minutes",
            "mcp.servers.NAME.timeout_s": "mcp.servers.NAME.timeout_seconds",
            "queue.lease_s": "queue.lease_seconds",
            "queue.sweep_s": "queue.sweep_seconds",
            "sandbox.command_timeout_s": "sandbox.command_timeout_seconds",
        },
        Place.ACTION: {
            "allow-bot-users": "allow-bots",
            "branch-template": "branch",
            "instructions-files": "instructions",
            "pr-body-template": "body",
            "pr-title-template": "title",
            "pr-type": "deliver",
            "sandbox-image": "image",
            "setup-script": "setup",
            "target-branch": "base",
            "test-command": "test",
            "trigger-assignee": "assignee",
            "trigger-label": "label",
            "trigger-phrase": "mention",
        },
        Place.COMMAND_LINE: {
            "prove --command": "prove --test",
            "replay --repo FOLDER": "replay -C FOLDER",
            "prove --repo FOLDER": "prove -C FOLDER",
            "resolve --issue FILE": "resolve --file FILE",
            "resolve --repo FOLDER": "resolve -C FOLDER",
            "serve --role beat": "serve --role scheduler",
        },
    }
)
# The label that started runs of the Action before it had the service's.
FORMER_LABEL: Final = "fix-me"
UNTIL: Final = "the old name works for one more release"
