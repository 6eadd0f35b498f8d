"""What was not given to us is named, with what does not work without it."""

from patchwright.integrations.github.app import (
    PERMISSIONS,
    SUBSCRIBED_EVENTS,
    Granted,
    missing_permissions,
    missing_scopes,
)

ALL = {name: need.level for name, need in PERMISSIONS.items()}
EVENTS = tuple(SUBSCRIBED_EVENTS)


def test_nothing_is_missing_where_all_is_granted() -> None:
    more = {**ALL, "metadata": "write", "pages": "write"}
    granted = Granted(permissions=more, events=(*EVENTS, "star"))
    assert missing_permissions(granted) == ()


def test_a_missing_permission_is_named_with_its_use() -> None:
    fewer = {name: level for name, level in ALL.items() if name != "checks"}
    [line] = missing_permissions(Granted(permissions=fewer, events=EVENTS))
    assert line == (
        "permission checks: write, needed for reading checks, and reporting its own on "
        "pull requests"
    )


def test_reading_is_not_writing() -> None:
    for level in ("read", "none", ""):
        granted = Granted(permissions={**ALL, "contents": level}, events=EVENTS)
        [line] = missing_permissions(granted)
        assert line == (
            "permission contents: write, needed for fetching the code and pushing "
            "branches"
        )


def test_a_missing_event_is_named() -> None:
    fewer = tuple(event for event in EVENTS if event != "discussion")
    assert missing_permissions(Granted(permissions=ALL, events=fewer)) == (
        "event discussion: the bot does not react to it",
    )


def test_the_scopes_of_a_classic_token() -> None:
    assert missing_scopes(frozenset({"repo", "gist"})) == ()
    assert missing_scopes(frozenset({"public_repo"})) == (
        "scope repo: needed for private repositories",
    )
    assert missing_scopes(frozenset({"gist"})) == ("scope repo: needed for everything",)


def test_a_token_of_another_kind_does_not_say() -> None:
    assert missing_scopes(None) == ()
