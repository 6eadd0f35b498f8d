"""What we say in a session of Linear's: activities, a plan, and links.

https://linear.app/developers/agent-interaction
"""

import re
import threading
import uuid
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from patchwright.core.channel import Offers
from patchwright.core.commands import Verb
from patchwright.core.text.escape import Marked
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AlreadyExistsError,
    InvalidRequestError,
    NotFoundError,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.linear.client import LinearClient, url_key_of
from patchwright.integrations.linear.markdown import (
    PlanStep,
    split_progress,
    without_link,
)
from patchwright.integrations.linear.webhooks.payloads import (
    JsonObject,
    LinearModel,
    Text,
)

SESSIONS_QUERY: Final = """
query Sessions($issue: String!) {
  issue(id: $issue) {
    agentSessions(first: 20) {
      nodes { id status createdAt dismissedAt appUser { id } creator { id } }
    }
  }
}
"""
ACTIVITY_QUERY: Final = """
query Activity($id: String!) { agentActivity(id: $id) { id } }
"""
PLAN_QUERY: Final = """
query Plan($id: String!) { agentSession(id: $id) { id plan } }
"""
CREATE_ACTIVITY: Final = """
mutation CreateActivity($input: AgentActivityCreateInput!) {
  agentActivityCreate(input: $input) { success agentActivity { id } }
}
"""
UPDATE_SESSION: Final = """
mutation UpdateSession($id: String!, $input: AgentSessionUpdateInput!) {
  agentSessionUpdate(id: $id, input: $input) { success }
}
"""

_ACTIVITY: Final = "activity"
_RUNNING: Final = frozenset({"queued", "running"})
_WAITING: Final = "waiting"
_BROKEN: Final = frozenset(
    {
        OutcomeKind.FAILED,
        OutcomeKind.REFUSED,
        OutcomeKind.OVER_BUDGET,
        OutcomeKind.OVER_LIMIT,
        OutcomeKind.TIMED_OUT,
        OutcomeKind.STUCK,
    }
)
# A session without a word for half an hour counts as stale.
SAY_AGAIN_S: Final = 300.0
_LAST_WORDS: Final = frozenset({"response", "error"})
# Of these, somebody waits for a word of ours.
_OPEN: Final = frozenset({"pending", "active", "stale"})
_PING: Final = "<!-- patchwright:ping"
_FIGURES: Final = re.compile(r"\d+")


class _AppUser(LinearModel):
    id: str = ""


class _SessionNode(LinearModel):
    id: str
    status: str = ""
    created_at: str = ""
    dismissed_at: str | None = None
    app_user: _AppUser = _AppUser()
    creator: _AppUser | None = None

    def is_by_person(self, own_id: str) -> bool:
        """Whether somebody began it, and not what we do on the issue ourselves."""
        return self.creator is None or self.creator.id != own_id


class _SessionNodes(LinearModel):
    nodes: tuple[_SessionNode, ...] = ()


class _SessionIssue(LinearModel):
    agent_sessions: _SessionNodes = _SessionNodes()


class _SessionsAnswer(LinearModel):
    issue: _SessionIssue


class _ActivityId(LinearModel):
    id: str


class _ActivityAnswer(LinearModel):
    agent_activity: _ActivityId


class _ShownStep(LinearModel):
    content: Text = ""
    status: Text = ""


class _SessionPlan(LinearModel):
    plan: tuple[_ShownStep, ...] | None = None


class _PlanAnswer(LinearModel):
    agent_session: _SessionPlan


class _CreatedActivity(LinearModel):
    agent_activity: _ActivityId


class _Created(LinearModel):
    agent_activity_create: _CreatedActivity


class Nothing(LinearModel):
    """An answer of which nothing is read."""


def own_id(*parts: str) -> str:
    """Return the id of something of ours; the same parts give the same id.

    So what is said twice is said once. Linear takes ids that look random (version 4).
    """
    digest = sha256("\n".join(parts).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


@dataclass(frozen=True)
class SessionPost:
    """A post of ours in a session: an activity, and those that came in its place."""

    session: str
    id: str

    def __str__(self) -> str:
        return f"{_ACTIVITY}:{self.session}:{self.id}"


def read_post_id(post_id: str) -> SessionPost | None:
    """Return what an id names in a session, None for a comment."""
    kind, _, rest = post_id.partition(":")
    session, _, activity = rest.partition(":")
    if kind != _ACTIVITY or not activity:
        return None
    return SessionPost(session, activity)


class Activity(Value):
    """What an activity says; `options` are answers to choose from.

    `is_cut_short` says of an end that the work was not brought to its own.
    """

    type: str
    body: str
    is_ephemeral: bool = False
    is_cut_short: bool = False
    options: tuple[tuple[str, str], ...] = ()
    plan: tuple[PlanStep, ...] = ()
    run_url: str = ""

    @property
    def news(self) -> str:
        """The text without figures: time and cost alone are no news."""
        return f"{self.type}\n{_FIGURES.sub('', self.body)}"

    @property
    def is_end(self) -> bool:
        return self.type in _LAST_WORDS


def choose_activity(marked: Marked, offers: Offers) -> Activity:
    """Return the activity for a text of ours, by the state that its mark names.

    What has no state is about no run: it is an answer, or with offers a question.
    """
    state, body = marked.state, marked.text
    if state in _RUNNING:
        shown = split_progress(body)
        return Activity(
            type="thought",
            body=shown.text,
            is_ephemeral=True,
            plan=shown.plan,
            run_url=shown.run_url,
        )
    run_url = split_progress(body).run_url
    if state == _WAITING or (not state and offers):
        # Those that need no words of the reader's own; Linear has a button to stop.
        options = tuple(
            (one.words, one.command)
            for one in offers
            if one.command not in ("", Verb.STOP)
            and not (one.asks or one.picks_repository)
        )
        return Activity(type="elicitation", body=body, options=options, run_url=run_url)
    is_broken = state in _BROKEN
    return Activity(
        type="error" if is_broken else "response",
        body=body,
        is_cut_short=is_broken or state == OutcomeKind.STOPPED,
        run_url=run_url,
    )


def _run_label(url: str) -> str:
    """Return what a run is called: a session may have several."""
    return f"Run {urlsplit(url).path.rpartition('/')[2][:8]}"


def _end_plan(plan: tuple[PlanStep, ...], said: Activity) -> tuple[PlanStep, ...]:
    """Return the plan as it is when that was said last."""
    present = "canceled" if said.is_cut_short else "completed"
    ends = {"inProgress": present, "pending": "canceled"}
    return tuple(one.replace(status=ends.get(one.status, one.status)) for one in plan)


class LinearSessions:
    """Finds our sessions on issues, and speaks in them; any thread may ask."""

    def __init__(self, api: LinearClient) -> None:
        self._api = api
        self._lock = threading.Lock()
        # What was last said in place of a post, when, and the plan shown last.
        self._said: dict[str, tuple[str, float]] = {}
        self._plans: dict[str, tuple[PlanStep, ...]] = {}

    def find(self, ref: TalkThread) -> str:
        """Return the newest session of ours on an issue, or an empty string."""
        nodes = self._list(ref)
        newest = max(nodes, key=lambda one: one.created_at, default=None)
        return newest.id if newest else ""

    def _list(self, ref: TalkThread) -> list[_SessionNode]:
        url_key = url_key_of(ref)
        own = self._api.identity(url_key)
        if not own.is_app:
            return []
        answer = self._api.read(
            url_key,
            _SessionsAnswer,
            SESSIONS_QUERY,
            {"issue": ref.lasting_id or ref.id},
        )
        return [
            one
            for one in answer.issue.agent_sessions.nodes
            if one.app_user.id == own.own_id
            and one.dismissed_at is None
            and one.is_by_person(own.own_id)
        ]

    def has(self, ref: TalkThread, activity: str) -> bool:
        try:
            self._api.read(
                url_key_of(ref), _ActivityAnswer, ACTIVITY_QUERY, {"id": activity}
            )
        except (NotFoundError, InvalidRequestError):
            return False
        return True

    def name_post(self, session: str, activity: str) -> str:
        """Return the id of a post of ours."""
        return str(SessionPost(session, activity))

    def post(
        self, ref: TalkThread, session: str, marked: Marked, offers: Offers
    ) -> str:
        """Say something; what calls somebody to a result is the result's own notice."""
        if marked.name.startswith(_PING):
            return ""
        said = choose_activity(marked, offers)
        first = own_id(str(ref), marked.name) if marked.name else ""
        made = self._create(ref, session, said, first)
        post = SessionPost(session, made)
        self._remember(str(post), said)
        return str(post)

    def replace(
        self, ref: TalkThread, post: SessionPost, marked: Marked, offers: Offers
    ) -> None:
        """Say it in place of an earlier post, if it is news: nothing can be edited."""
        said = choose_activity(marked, offers)
        if said.is_ephemeral and not self._is_news(str(post), said):
            self._show_plan(ref, post.session, said)
            return
        digest = sha256(f"{said.type}\n{said.body}".encode()).hexdigest()
        self._create(ref, post.session, said, own_id(str(post), digest))
        self._remember(str(post), said)
        if said.is_end:
            self._end_others(ref, post, said)

    def _end_others(self, ref: TalkThread, post: SessionPost, said: Activity) -> None:
        """Say how it ended where people have called us while we were at work.

        Linear begins a session for each such mention; what it asked for went into the
        run, and without a last word it would look as if we were still reading.
        """
        headline = said.body.partition("\n\n")[0]
        short = Activity(type=said.type, body=headline)
        for other in self._list(ref):
            if other.id != post.session and other.status in _OPEN:
                self._create(ref, other.id, short, own_id(other.id, str(post)))

    def acknowledge(self, ref: TalkThread, session: str, key: str, words: str) -> None:
        seen = Activity(type="thought", body=words, is_ephemeral=True)
        self._create(ref, session, seen, own_id(session, "seen", key))

    def respond(self, ref: TalkThread, session: str, key: str, words: str) -> None:
        said = Activity(type="response", body=words)
        self._create(ref, session, said, own_id(session, "said", key))

    def ask_to_link(
        self, ref: TalkThread, session: str, actor: Actor, body: str, offers: Offers
    ) -> None:
        """Let Linear show one person a link, and all others that we wait for them.

        Raises `InvalidRequestError` for what else would be for one person alone: what
        an activity says, everybody can read.
        https://linear.app/developers/agent-signals#auth
        """
        [offer] = offers or (None,)
        if offer is None or not offer.url or not actor.external_id:
            raise InvalidRequestError("Linear shows nothing but a link to one person")
        shown = without_link(body, offer.url)
        self._ask(
            ref,
            {
                "agentSessionId": session,
                "content": {"type": "elicitation", "body": shown},
                "signal": "auth",
                "signalMetadata": {"url": offer.url, "userId": actor.external_id},
            },
        )

    def add_link(self, ref: TalkThread, session: str, label: str, url: str) -> None:
        link: JsonObject = {"label": label, "url": url}
        self._update(ref, session, {"addedExternalUrls": [link]})

    def _create(
        self, ref: TalkThread, session: str, said: Activity, activity: str
    ) -> str:
        """Say it once; Linear takes no second activity of the same id."""
        content: JsonObject = {"type": said.type, "body": said.body}
        given: JsonObject = {"agentSessionId": session, "content": content}
        if activity:
            given["id"] = activity
        if said.is_ephemeral:
            given["ephemeral"] = True
        if said.options:
            options: list[JsonValue] = [
                {"label": label, "value": value} for label, value in said.options
            ]
            given |= {"signal": "select", "signalMetadata": {"options": options}}
        try:
            made = self._ask(ref, given)
        except AlreadyExistsError:
            made = activity
        if said.run_url:
            self.add_link(ref, session, _run_label(said.run_url), said.run_url)
        self._show_plan(ref, session, said)
        return made

    def _ask(self, ref: TalkThread, given: JsonObject) -> str:
        answer = self._api.ask(
            url_key_of(ref), _Created, CREATE_ACTIVITY, {"input": given}
        )
        return answer.agent_activity_create.agent_activity.id

    def _show_plan(self, ref: TalkThread, session: str, said: Activity) -> None:
        """Replace the plan if it has changed; at an end no step of it goes on.

        Then it is read first, since another worker may have begun the work.
        """
        if said.is_end:
            before = self._fetch_plan(ref, session)
            plan = _end_plan(before, said)
        else:
            with self._lock:
                before, plan = self._plans.get(session, ()), said.plan
        if not plan or plan == before:
            return
        with self._lock:
            self._plans[session] = plan
        steps: list[JsonValue] = [dict(one) for one in plan]
        self._update(ref, session, {"plan": steps})

    def _fetch_plan(self, ref: TalkThread, session: str) -> tuple[PlanStep, ...]:
        variables: JsonObject = {"id": session}
        answer = self._api.read(url_key_of(ref), _PlanAnswer, PLAN_QUERY, variables)
        return tuple(
            PlanStep(content=one.content, status=one.status)
            for one in answer.agent_session.plan or ()
        )

    def _update(self, ref: TalkThread, session: str, change: JsonObject) -> None:
        variables: JsonObject = {"id": session, "input": change}
        self._api.ask(url_key_of(ref), Nothing, UPDATE_SESSION, variables)

    def _is_news(self, post: str, said: Activity) -> bool:
        now = self._api.clock.monotonic()
        with self._lock:
            words, at = self._said.get(post, ("", float("-inf")))
        return words != said.news or now - at >= SAY_AGAIN_S

    def _remember(self, post: str, said: Activity) -> None:
        with self._lock:
            self._said[post] = (said.news, self._api.clock.monotonic())
