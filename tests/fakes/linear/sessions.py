"""Sessions of agents: how they begin, what agents and people say there, how they end.

https://linear.app/developers/agent-interaction
https://linear.app/developers/agent-signals
"""

from datetime import timedelta
from html import escape
from typing import Any

from tests.fakes.linear import bodies, webhooks
from tests.fakes.linear.exchange import Json, RefusedError, forbidden, invalid
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Comment,
    Issue,
    Label,
    Team,
    User,
    World,
)

# An agent that shows no sign of life for so long is shown as unresponsive, or stale.
FIRST_SIGN = timedelta(seconds=10)
STALE = timedelta(minutes=30)
_STATUS = {
    "thought": "active",
    "action": "active",
    "elicitation": "awaitingInput",
    "response": "complete",
    "error": "error",
}
# The fields of each kind of content, and whether it must have them.
_FIELDS = {
    **{kind: {"body": True} for kind in _STATUS},
    "action": {"action": True, "parameter": True, "result": False},
}
_STEPS = ("pending", "inProgress", "completed", "canceled")


def delegate(world: World, issue: Issue, actor: User) -> AgentSession:
    """Begin a session, in a thread of its own, because an issue was delegated."""
    agent = world.get(User, issue.delegate)
    notify(world, "issueAssignedToYou", issue, agent.id, actor)
    return _begin_in_own_thread(world, issue, agent, actor)


def mention_in_issue(
    world: World, issue: Issue, agent: User, actor: User
) -> AgentSession:
    """Begin a session because the description calls an agent."""
    notify(world, "issueMention", issue, agent.id, actor)
    return _begin_in_own_thread(world, issue, agent, actor)


def mention_in_comment(
    world: World, comment: Comment, agent: User, actor: User
) -> AgentSession:
    issue = world.get(Issue, comment.issue)
    about: Json = {"comment": bodies.comment_child(comment)}
    about["commentId"] = comment.id
    notify(world, "issueCommentMention", issue, agent.id, actor, **about)
    return begin(world, issue, agent, actor, comment)


def _begin_in_own_thread(
    world: World, issue: Issue, agent: User, actor: User | None
) -> AgentSession:
    body = f"This thread is for an agent session with {agent.display_name}."
    root = Comment(
        **world.new(), issue=issue.id, user=None, body=body, is_session_root=True
    )
    return begin(world, issue, agent, actor, world.add(root))


def begin(
    world: World, issue: Issue, agent: User, actor: User | None, comment: Comment
) -> AgentSession:
    """Begin a session in the thread of a comment, and tell the agent's app of it."""
    made = AgentSession(
        **world.new(),
        app_user=agent.id,
        creator=actor.id if actor else None,
        issue=issue.id,
        comment=comment.id,
        told=world.clock.now(),
    )
    world.add(made)
    if actor is not None:
        earlier = [one for one in _thread(world, comment) if one is not comment]
        said = [] if comment.is_session_root else earlier
        _tell(
            world,
            made,
            "created",
            previousComments=[bodies.comment_child(one) for one in said] or None,
            guidance=bodies.guidance(world, issue) or None,
            promptContext=_prompt_context(world, issue, comment),
        )
    return made


def begin_by_app(
    world: World, issue: Issue, agent: User, comment: Comment | None
) -> AgentSession:
    """Begin a session because the app itself asks for one; nobody is told."""
    if comment is None:
        return _begin_in_own_thread(world, issue, agent, None)
    return begin(world, issue, agent, None, comment)


def answered(world: World, root: Comment, comment: Comment, actor: User) -> bool:
    """Pass what somebody says in the thread of a session on to its agent.

    Returns whether the thread is that of a session.
    """
    for session in reversed(world.all(AgentSession)):
        home = world.get(Comment, session.comment)
        if root.id in (home.id, home.parent):
            _prompt(world, session, actor, comment)
            return True
    return False


def stop(world: World, session: AgentSession, actor: User) -> AgentActivity:
    """Let somebody press the button that asks an agent to stop."""
    comment = _say(world, session, actor, "Stop")
    return _prompt(world, session, actor, comment, signal="stop")


def _prompt(
    world: World,
    session: AgentSession,
    actor: User,
    comment: Comment,
    *,
    signal: str | None = None,
) -> AgentActivity:
    made = AgentActivity(
        **world.new(),
        session=session.id,
        user=actor.id,
        content={"type": "prompt", "body": comment.body},
        signal=signal,
        source_comment=comment.id,
    )
    _replace_ephemeral(world, session)
    world.add(made)
    session.status, session.updated = "active", made.created
    session.ended, session.last_activity = None, made.created
    _tell(world, session, "prompted", agentActivity=bodies.activity(world, made))
    return made


def act(world: World, session: AgentSession, agent: User, asked: Json) -> AgentActivity:
    """Take an activity of an agent as the API is asked for it; refuse a wrong one."""
    if agent.id != session.app_user:
        raise forbidden("Only the agent of a session can add activities to it")
    content = _checked(asked["content"])
    _check_extras(content["type"], asked)
    made = AgentActivity(
        **{**world.new(), **({"id": asked["id"]} if asked.get("id") else {})},
        session=session.id,
        user=agent.id,
        content=content,
        ephemeral=bool(asked.get("ephemeral")),
        signal=asked.get("signal"),
        signal_metadata=asked.get("signalMetadata"),
    )
    _replace_ephemeral(world, session)
    if content["type"] not in ("thought", "action"):
        made.source_comment = _say(world, session, agent, content["body"]).id
    world.add(made)
    _note_sign(world, session)
    session.status = _STATUS[content["type"]]
    session.ended = None
    if session.status in ("complete", "error"):
        session.ended, session.summary = made.created, content["body"]
    session.started = session.started or made.created
    session.last_activity = session.updated = made.created
    return made


def _checked(content: object) -> Json:
    kind = content.get("type") if isinstance(content, dict) else None
    fields = _FIELDS.get(str(kind))
    if not isinstance(content, dict) or fields is None:
        words = ", ".join(_FIELDS)
        raise invalid("content", f"its type must be one of {words}")
    for name, is_needed in fields.items():
        value = content.get(name)
        is_text = isinstance(value, str) and bool(value.strip())
        if not is_text and (is_needed or value is not None):
            raise invalid("content", f"{kind} needs the text {name}")
    if unknown := content.keys() - fields.keys() - {"type"}:
        raise invalid("content", f"{kind} has no {', '.join(sorted(unknown))}")
    return dict(content)


def _check_extras(kind: str, asked: Json) -> None:
    if asked.get("ephemeral") and kind not in ("thought", "action"):
        raise invalid("ephemeral", "only a thought or an action can be ephemeral")
    signal, facts = asked.get("signal"), asked.get("signalMetadata") or {}
    if signal is None:
        return
    if signal not in ("auth", "select") or kind != "elicitation":
        raise invalid("signal", f"{kind} cannot have the signal {signal}")
    if signal == "auth" and not isinstance(facts.get("url"), str):
        raise invalid("signalMetadata", "auth needs a url")
    options = facts.get("options")
    is_list = isinstance(options, list) and bool(options)
    if signal == "select" and not (is_list and all(map(_is_option, options or ()))):
        raise invalid("signalMetadata", "select needs options, each with a value")


def _is_option(option: object) -> bool:
    return isinstance(option, dict) and bool(option.get("value"))


def update(world: World, session: AgentSession, agent: User, asked: Json) -> None:
    """Change plan and addresses of a session as the API is asked for it."""
    if agent.id != session.app_user:
        raise forbidden("Only the agent of a session can change it")
    if "plan" in asked:
        session.plan = _checked_plan(asked["plan"])
    links = list(session.external_urls)
    if asked.get("externalLink"):
        links = [{"label": "Open", "url": asked["externalLink"]}]
    if asked.get("externalUrls") is not None:
        links = list(asked["externalUrls"])
    gone = set(asked.get("removedExternalUrls") or ())
    links = [one for one in links if one["url"] not in gone]
    for one in asked.get("addedExternalUrls") or ():
        if one["url"] not in [known["url"] for known in links]:
            links.append(one)
    if len({one["url"] for one in links}) != len(links):
        raise invalid("externalUrls", "each url can be there once")
    if links != session.external_urls:
        # An address to look at counts as a sign of life.
        _note_sign(world, session)
    session.external_urls = [dict(one) for one in links]
    session.updated = world.clock.now()


def _checked_plan(plan: Any) -> list[Json] | None:
    """Take a whole list of steps; there is no way to change a single one."""
    if plan is None:
        return None
    if not isinstance(plan, list):
        raise invalid("plan", "it must be a list of steps")
    for step in plan:
        is_step = isinstance(step, dict) and set(step) == {"content", "status"}
        if not is_step or not step["content"] or step["status"] not in _STEPS:
            words = f"each step has content, and a status of {', '.join(_STEPS)}"
            raise invalid("plan", words)
    return [dict(step) for step in plan]


def age(world: World) -> None:
    """Mark the sessions whose agents have been silent for too long."""
    now = world.clock.now()
    for one in world.all(AgentSession):
        if one.first_sign is None and now - one.told > FIRST_SIGN:
            one.unresponsive = True
        last = one.last_activity or one.told
        if one.status in ("pending", "active") and now - last > STALE:
            one.status = "stale"


def _note_sign(world: World, session: AgentSession) -> None:
    age(world)
    session.first_sign = session.first_sign or world.clock.now()


def _replace_ephemeral(world: World, session: AgentSession) -> None:
    for one in world.activities(session):
        if one.ephemeral:
            one.replaced = True


def say(world: World, session: AgentSession, actor: User, body: str) -> Comment:
    """Let a person write in the thread of a session."""
    made = _say(world, session, actor, body)
    _prompt(world, session, actor, made)
    return made


def _say(world: World, session: AgentSession, actor: User, body: str) -> Comment:
    home = world.get(Comment, session.comment)
    made = Comment(
        **world.new(),
        issue=session.issue,
        user=actor.id,
        body=body,
        parent=home.parent or home.id,
    )
    world.add(made)
    webhooks.tell(world, made, "create", actor)
    return made


def notify(
    world: World, kind: str, issue: Issue, agent_id: str, actor: User, **more: Any
) -> None:
    """Tell an app of what its user finds in the inbox."""
    agent = world.get(User, agent_id)
    if not agent.app:
        return
    who = {
        "userId": agent.id,
        "actorId": actor.id,
        "actor": bodies.user(world, actor.id),
    }
    told = {
        **_app_facts(world, agent),
        "notification": bodies.notification(world, kind, issue, who, **more),
    }
    workspace = world.workspace_of(issue)
    webhooks.record(
        world, "AppUserNotification", kind, told, workspace=workspace, team=issue.team
    )


def _tell(world: World, session: AgentSession, action: str, **more: Any) -> None:
    issue = world.get(Issue, session.issue)
    told = {
        **_app_facts(world, world.get(User, session.app_user)),
        "agentSession": bodies.session(world, session),
        "agentActivity": None,
        "previousComments": None,
        "guidance": None,
        "promptContext": None,
        **more,
    }
    workspace = world.workspace_of(issue)
    webhooks.record(
        world, "AgentSessionEvent", action, told, workspace=workspace, team=issue.team
    )


def _app_facts(world: World, agent: User) -> Json:
    owned = (one.client_id for one in world.tokens if one.user == agent.id)
    client = next(owned, None) or next(iter(world.apps), None)
    if client is None:
        raise RefusedError("there is no app")
    return {"oauthClientId": client, "appUserId": agent.id}


def _thread(world: World, comment: Comment) -> list[Comment]:
    root = comment.parent or comment.id
    every = world.all(Comment)
    return [one for one in every if root in (one.id, one.parent)]


def _prompt_context(world: World, issue: Issue, comment: Comment) -> str:
    """Write what an agent should know, the thread that called it before others."""
    lines = [
        f'<issue identifier="{world.identifier(issue)}">',
        f"<title>{escape(issue.title, quote=False)}</title>",
        f"<description>{escape(issue.description or '', quote=False)}</description>",
        f'<team name="{escape(world.get(Team, issue.team).name)}"/>',
        *(f"<label>{world.get(Label, one).name}</label>" for one in issue.labels),
        "</issue>",
        "",
    ]
    root = comment.parent or comment.id
    if not comment.is_session_root:
        lines += _told_thread(world, "primary-directive-thread", root)
    for one in world.comments(issue):
        if one.parent is None and one.id != root and not one.is_session_root:
            lines += _told_thread(world, "other-thread", one.id)
    rules = "".join(
        f'<guidance-rule origin="{one["origin"]["type"].lower()}">'
        f"{escape(one['body'], quote=False)}</guidance-rule>"
        for one in bodies.guidance(world, issue)
    )
    if rules:
        lines.append(f"<guidance>{rules}</guidance>")
    return "\n".join(lines) + "\n"


def _told_thread(world: World, tag: str, root: str) -> list[str]:
    lines = [f'<{tag} comment-id="{root}">']
    for one in _thread(world, world.get(Comment, root)):
        name = world.get(User, one.user).name if one.user else "Linear"
        lines.append(
            f'<comment author="{escape(name)}" '
            f'created-at="{one.created:%Y-%m-%d %H:%M:%S}">'
            f"{escape(one.body, quote=False)}</comment>"
        )
    return [*lines, f"</{tag}>", ""]
