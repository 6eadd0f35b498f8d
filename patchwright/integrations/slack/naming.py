"""Put names in place of ids in what somebody asked: its delivery has ids alone."""

import re
from collections.abc import Mapping
from typing import Final

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.people import UserNames
from patchwright.integrations.slack.places import team_of
from patchwright.integrations.slack.text.lines import escape_markdown

# An id as our Markdown shows somebody without a name.
_ID: Final = re.compile(r"(?<![\w.@/-])@([UW][A-Z0-9]+)\b")
# Each may cost a question to Slack.
_MAX_LOOKUPS: Final = 20


def name_people(people: UserNames, trigger: Trigger) -> Trigger:
    """Return the request with names; who has none that we can learn keeps the id."""
    if not isinstance(trigger.thread, TalkThread):
        return trigger
    texts = (trigger.title, trigger.body, trigger.text, trigger.request)
    ids = [one for text in texts for one in _ID.findall(text)]
    if not ids:
        return trigger
    try:
        names = people.names_of(
            team_of(trigger.thread), list(dict.fromkeys(ids))[:_MAX_LOOKUPS]
        )
    except ServiceError:
        return trigger
    title, body, text, request = (_named(one, names) for one in texts)
    return trigger.replace(title=title, body=body, text=text, request=request)


def _named(text: str, names: Mapping[str, str]) -> str:
    def name(found: re.Match[str]) -> str:
        return f"@{escape_markdown(' '.join(names.get(found[1], found[1]).split()))}"

    return _ID.sub(name, text)
