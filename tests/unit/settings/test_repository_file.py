"""What `.patchwright.toml` says, and what is said about its mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.settings.repository import (
    PROTECTED_PATHS,
    DeliveryMode,
    FollowUpTrigger,
    RepositoryConfig,
)
from patchwright.core.settings.repository_file import (
    MAX_BYTES,
    known_keys,
    read_repository_config,
)
from patchwright.core.types.people import Permission

ASKED_FOR = ("mention", "label", "assignment")
WHOLE = """
model = "strong"
image = "registry.example/python:3.12"
setup = ["pip install -e .", "make assets"]
test = "pytest -q"
base = "develop"
branch = "bot/{{number}}-{{slug}}"
title = "fix: {{title}}"
deliver = "ready"
reviewers = ["alice", "team/core"]
labels = ["bot"]
assign_requester = false
protected_paths = ["deploy/**"]
allow_users = ["eve"]
allow_bots = ["dependabot[bot]"]
min_permission = "triage"
max_cost_usd = 1
max_iterations = 20
timeout_minutes = 7.5
triggers = ["mention", "review"]
network = "allow"
allow_domains = ["docs.example"]
ci_rounds = 0
plan_approval = "comment"
body = "{{summary}}\\n{{closes}}"
evidence = "best-effort"
on_setup_failure = "continue"
context_from = "write"
instructions = ["docs/bots.md"]
co_author = "none"
progress_comment = false
"""


def read(text: str) -> RepositoryConfig:
    return read_repository_config(text.encode())


def test_every_key_is_read() -> None:
    assert read(WHOLE) == RepositoryConfig(
        model="strong",
        image="registry.example/python:3.12",
        setup=("pip install -e .", "make assets"),
        test=("pytest -q",),
        base="develop",
        branch="bot/{{number}}-{{slug}}",
        title="fix: {{title}}",
        deliver=DeliveryMode.READY,
        reviewers=("alice", "team/core"),
        labels=("bot",),
        assign_requester=False,
        protected_paths=("deploy/**",),
        allow_users=("eve",),
        allow_bots=("dependabot[bot]",),
        min_permission=Permission.TRIAGE,
        max_cost_usd=1.0,
        max_iterations=20,
        timeout_minutes=7.5,
        triggers=(FollowUpTrigger.MENTION, FollowUpTrigger.REVIEW),
        network="allow",
        allow_domains=("docs.example",),
        ci_rounds=0,
        plan_approval="comment",
        body="{{summary}}\n{{closes}}",
        evidence="best-effort",
        on_setup_failure="continue",
        context_from="write",
        instructions=("docs/bots.md",),
        co_author="none",
        progress_comment=False,
    )


def test_the_keys_are_those_of_the_config() -> None:
    assert known_keys() == RepositoryConfig.model_fields.keys() - {"file", "problems"}


@pytest.mark.parametrize("data", [None, b"", b"# nothing yet\n", b"\xef\xbb\xbf"])
def test_a_file_that_says_nothing_changes_nothing(data: bytes | None) -> None:
    assert read_repository_config(data) == RepositoryConfig()


def test_a_former_key_works_and_is_told() -> None:
    config = read('pr = "patch"\n')
    assert config.deliver is DeliveryMode.PATCH
    assert config.problems == (
        (
            "`.patchwright.toml`: `pr` is now `deliver`; the old name works for one "
            "more release."
        ),
    )


def test_a_key_by_both_names_is_read_as_strictly_as_can_be() -> None:
    config = read('pr = "draft"\ndeliver = "ready"\n')
    assert config.deliver is DeliveryMode.DRAFT
    assert config.problems == (
        (
            "`.patchwright.toml` sets both `deliver` and its former name `pr`: remove "
            "`pr`. Until then changes stay drafts."
        ),
    )


def test_what_the_version_before_has_stored_is_read() -> None:
    stored = RepositoryConfig.model_validate_json('{"pr": "patch"}')
    assert stored == RepositoryConfig(deliver=DeliveryMode.PATCH)


def test_an_unknown_key_is_told_with_the_nearest_known_one() -> None:
    config = read('max_cost = 1\nlabels = ["bot"]\n')
    [problem] = config.problems
    assert problem == (
        "`.patchwright.toml` has an unknown key, `max_cost`; the nearest known one is "
        "`max_cost_usd`."
    )
    assert config.labels == ("bot",)


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ('min_permission = "read"', "with less, every stranger could start"),
        ('min_permission = "none"', "`triage`, `write`, `maintain` or `admin`"),
        ('allow_users = ["*"]', "a list of logins without the @; `*` is not allowed"),
        ('allow_users = "@alice"', "a list of logins without the @"),
        ('allow_bots = ["*"]', "a list of names of bots; `*` is not allowed"),
        ("max_cost_usd = 0", "a number above 0"),
        ("max_cost_usd = true", "a number above 0"),
        ("max_cost_usd = nan", "a number above 0"),
        ('max_cost_usd = "3"', "a number above 0"),
        ("max_iterations = 2.5", "a whole number above 0"),
        ("ci_rounds = 11", "a whole number from 0 to 10"),
        ("ci_rounds = -1", "a whole number from 0 to 10"),
        ('deliver = "Draft"', "`draft`, `ready`, `branch`, `patch` or `none`"),
        ('triggers = ["mention", "push"]', "a list of `mention`, `label`"),
        ('network = "open"', "`deny`, `allowlist` or `allow`"),
        ('plan_approval = "yes"', "`none` or `comment`"),
        ('assign_requester = "no"', "`true` or `false`"),
        ("setup = 3", "a command or a list of commands"),
        ("title = 2024-01-01", "a template of one line"),
        ('title = "a\\nb"', "one line of text"),
        ('base = "a..b"', "the name of a branch"),
        ('image = "a b"', "the name of an image"),
        ('reviewers = ["team/a/b"]', "`team/NAME` for a team"),
    ],
)
def test_a_bad_value_is_told_and_left_out(line: str, meaning: str) -> None:
    key = line.partition(" ")[0]
    config = read(f'{line}\nmodel = "strong"\n')
    [problem] = config.problems
    assert problem.startswith(f"`.patchwright.toml`: `{key}` was ignored: it must be ")
    assert meaning in problem
    as_default = {key: getattr(RepositoryConfig(), key)}
    shown = config.replace(**as_default).replace(deliver=None, problems=())
    assert shown == RepositoryConfig(model="strong")


@pytest.mark.parametrize(
    ("line", "key", "value", "told"),
    [
        ('min_permission = "owner"', "min_permission", "admin", "only admins may ask"),
        ('network = "none"', "network", "deny", "the network is closed"),
        (
            "plan_approval = true",
            "plan_approval",
            "comment",
            "plan waits for an approval",
        ),
        ('deliver = "Draft"', "deliver", "draft", "changes stay drafts"),
        ("protected_paths = [1]", "deliver", "draft", "changes stay drafts"),
        ('protected_paths = [1]\ndeliver = "ready"', "deliver", "draft", "stay drafts"),
        ('protected_paths = [1]\ndeliver = "patch"', "deliver", "patch", "stay drafts"),
        ("triggers = [1]", "triggers", ASKED_FOR, "no run starts without a request"),
        ("evidence = true", "evidence", "required", "proof is required"),
        ("context_from = 1", "context_from", "write", "of others are not read"),
        ('on_setup_failure = "go"', "on_setup_failure", "stop", "ends the run"),
    ],
)
def test_a_limit_that_cannot_be_read_is_taken_strictly(
    line: str, key: str, value: object, told: str
) -> None:
    config = read(line)
    assert getattr(config, key) == value
    assert told in config.problems[0]


def test_a_variable_that_does_not_exist_is_named() -> None:
    [problem] = read('title = "{{titel}}"').problems
    assert problem == (
        "`.patchwright.toml`: `title` was ignored: `{{titel}}` is unknown; use "
        "`{{number}}` `{{slug}}` `{{key}}` `{{label}}` `{{date}}` `{{sha}}` "
        "`{{title}}` `{{run}}`."
    )


def test_the_text_of_a_pull_request_knows_more_variables() -> None:
    assert read('body = "{{evidence}}"').problems == ()
    [problem] = read('body = "{{proof}}"').problems
    assert "`body` was ignored: `{{proof}}` is unknown" in problem
    assert "`{{evidence}}`" in problem
    assert "is unknown" in read('title = "{{evidence}}"').problems[0]
    assert "it is empty" in read('body = " "').problems[0]


def test_mistakes_are_told_of_the_file_that_they_are_in() -> None:
    config = read_repository_config(b"labl = 1", "ci/bot.toml")
    assert config.problems[0].startswith("`ci/bot.toml` has an unknown key, `labl`")
    unread = read_repository_config(b"=", "ci/bot.toml")
    assert unread.problems[0].startswith("`ci/bot.toml` is not TOML")


def test_the_file_itself_is_kept_for_people_wherever_it_is() -> None:
    usual = read('protected_paths = ["a"]')
    assert usual.kept_for_people == ("a",)
    other = read_repository_config(b'protected_paths = ["a"]', "ci/bot.toml")
    assert other.kept_for_people == ("a", "ci/bot.toml", ".patchwright.toml")


@pytest.mark.parametrize(
    "template",
    ["fix/{{slug}}", "main", "/{{number}}", "a b/{{number}}", "x..{{key}}", "é{{run}}"],
)
def test_s46_a_branch_that_git_or_another_request_would_refuse_is_left_out(
    template: str,
) -> None:
    config = read(f'branch = "{template}"')
    assert config.branch == ""
    assert (
        "a branch needs one of `{{number}}`, `{{key}}`, `{{run}}`"
        in (config.problems[0])
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"model =", "is not TOML: `Invalid value (at end of document)`"),
        (b'model = "a"\nmodel = "b"', "is not TOML: `Cannot overwrite a value"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"a = " + b"[" * 30_000, "is nested too deeply"),
        (b"#" * (MAX_BYTES + 1), "is larger than 64 KiB"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(data: bytes, why: str) -> None:
    config = read_repository_config(data)
    [problem] = config.problems
    assert problem.startswith(f"`.patchwright.toml` {why}")
    assert problem.endswith("; the whole file is ignored, and a change stays a draft.")
    assert (config.deliver, config.triggers) == ("draft", ASKED_FOR)
    assert config.context_from == "write"
    assert config.protected_paths == PROTECTED_PATHS


def test_many_mistakes_do_not_fill_the_thread() -> None:
    config = read("\n".join(f"unknown_{number} = 1" for number in range(50)))
    assert len(config.problems) == 11
    assert config.problems[-1] == "`.patchwright.toml` has 40 more such problems."


def test_a_key_cannot_break_out_of_its_sentence() -> None:
    [problem] = read('"`@alice` <!--\\n" = 1').problems
    assert problem.startswith(
        "`.patchwright.toml` has an unknown key, `` `@alice` <!-- ``; the nearest"
    )


@given(st.binary(max_size=300))
def test_no_bytes_break_it(data: bytes) -> None:
    read_repository_config(data)


_VALUES = st.recursive(
    st.integers() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(known_keys())), _VALUES)
def test_what_is_wrong_leaves_the_default_and_a_sentence(
    key: str, value: object
) -> None:
    config = read(f"{key} = {_toml(value)}")
    if config.problems:
        as_default = {key: getattr(RepositoryConfig(), key)}
        found = config.replace(**as_default).replace(deliver=None, problems=())
        assert found == RepositoryConfig()


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        escaped = "".join(f"\\U{ord(char):08x}" for char in value)
        return f'"{escaped}"'
    return str(value)
