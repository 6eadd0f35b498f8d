"""A Linear to test against: people act by method call, programs over real HTTP."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.types.base import Ids, RandomIds
from tests.fakes.github.exchange import Answer
from tests.fakes.github.faults import Interruption, Moment, When
from tests.fakes.linear import acts, files, oauth, sessions, webhooks
from tests.fakes.linear.dispatch import RequestSeen
from tests.fakes.linear.facts import issue_url
from tests.fakes.linear.scene import RESOURCES, Scene
from tests.fakes.linear.site import Site
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Attachment,
    Comment,
    Issue,
    Label,
    Reaction,
    Team,
    Token,
    User,
    WorkflowState,
)
from tests.fakes.linear.webhooks import Delivery

SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
SERVER_ERROR: Mapping[str, object] = {"errors": [{"message": "Internal server error"}]}
CALLBACK = "http://127.0.0.1/callback"


class FakeLinear:
    """Answers while its `with` block runs; everything it holds is gone afterwards.

    It begins with one workspace, in which our app is installed: `bot` is its user, and
    `settings` connect to it. There is no team and no person yet: `add_user`,
    `add_team`, then `create` an issue and let people `comment`, `label`, `assign`,
    `delegate`, `prompt`, `stop`. Issues are named by identifiers such as `ENG-1`,
    people by ids, and `mention(user)` calls somebody in a text. Each act, also one
    through the API, is told by webhooks in `deliveries` once there is one
    (`add_webhook`), and `deliver` of `tests.fakes.linear.webhooks` carries one to its
    receiver. What came of it is in `comments`, `issue`, `session`, `activities` and
    `attachments`, and to be looked at under `page(key)`. More of a scene, such as
    further workspaces and apps, is in `scene`. Where `PATCHWRIGHT_CORPUS` is set,
    documents and webhooks are held against Linear's descriptions when the block ends.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        clock: Clock = SYSTEM_CLOCK,
        ids: Ids = RANDOM_IDS,
        name: str = "",
        url_key: str = "acme",
        redirect_uris: Iterable[str] = (CALLBACK,),
    ) -> None:
        self._site = Site(port=port, name=name, clock=clock, ids=ids)
        self.world = self._site.world
        self.address = self._site.address
        self.scene = Scene(self.world)
        self.workspace = self.scene.add_workspace(url_key)
        self.app = self.scene.add_app(self.workspace, "Patchwright", redirect_uris)
        self.token = self.scene.install(self.app, self.workspace)
        self.bot = self.token.user

    def __enter__(self) -> Self:
        self._site.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._site.__exit__(kind, problem, trace)

    @property
    def api_url(self) -> str:
        return self.world.url

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return what our app connects with; `more` are other settings."""
        return {
            "api_url": self.api_url,
            "token": self.token.access,
            "teams": {one.key: "acme/shop" for one in self.world.all(Team)},
            **more,
        }

    @property
    def requests(self) -> list[RequestSeen]:
        """What was asked over HTTP so far."""
        return list(self._site.dispatch.log)

    @property
    def deliveries(self) -> list[Delivery]:
        """All webhooks sent so far, oldest first."""
        with self.world.lock:
            return list(self.world.deliveries)

    def delivery(self, event: str, action: str = "") -> Delivery:
        """Return the newest delivery of that event, and of that action if told."""
        for delivery in reversed(self.deliveries):
            if delivery.event == event and action in ("", delivery.action):
                return delivery
        raise LookupError(f"no {event} {action} was delivered")

    def fail_next(
        self,
        method: str,
        subject_regex: str,
        status: int,
        *,
        headers: Mapping[str, str] | None = None,
        body: object = SERVER_ERROR,
        times: int = 1,
        when: When = When.INSTEAD,
    ) -> None:
        """Let the next matching requests fail, instead of their work or after it.

        What is matched is the path, followed by the body where it is GraphQL.
        """
        answer = Answer(status=status, headers=headers or {}, body=body)
        faults = self._site.dispatch.faults
        faults.add(method, subject_regex, answer, times=times, when=when)

    def interrupt_next(
        self,
        subject_regex: str,
        happens: Callable[[], None],
        moment: Moment = Moment.BEFORE,
    ) -> None:
        """Let something happen in the middle of the next GraphQL request that fits."""
        self._site.dispatch.faults.interruptions.append(
            Interruption(
                method="POST",
                path=re.compile("/graphql"),
                body=re.compile(subject_regex.encode()),
                moment=moment,
                happens=happens,
            )
        )

    def exhaust(self) -> None:
        """Let our app have used up its requests; they come back with the clock."""
        self._site.graphql.buckets.empty(self.token.access)

    def add_webhook(
        self, secret: str, resources: Iterable[str] = RESOURCES, *, of_app: bool = True
    ) -> None:
        """Add our app's webhook, or one of the workspace, which hears no sessions."""
        with self.world.lock:
            self.scene.add_webhook(self.workspace, secret, resources, of_app=of_app)

    def silence(self, *, silent: bool = True) -> None:
        """Send no webhooks, as if none got through."""
        self.world.sends = not silent

    def expire_tokens(self) -> None:
        """Let a day pass for all tokens alone."""
        with self.world.lock:
            for one in self.world.tokens:
                one.expires = self.world.clock.now()

    def uninstall(self) -> None:
        with self.world.lock:
            self.scene.uninstall(self.app, self.workspace)

    def consent(self, address: str, user: str) -> str:
        """Agree, as that person, to what an address asks for; return the way back."""
        with self.world.lock:
            return oauth.follow(self.world, address, user)

    def newest_token(self) -> Token:
        with self.world.lock:
            return self.world.tokens[-1]

    def add_user(
        self, name: str, display_name: str = "", *, admin: bool = False
    ) -> str:
        """Make an account; return its id, by which it acts."""
        with self.world.lock:
            return self.scene.add_user(self.workspace, name, display_name, admin=admin)

    def mention(self, user: str) -> str:
        """Return how somebody is called in a text."""
        return f"@{self._user(user).display_name}"

    def add_team(
        self, key: str, name: str = "", *, members: Iterable[str] | None = None
    ) -> None:
        """Make a team that everybody may see, or its members alone."""
        with self.world.lock:
            self.scene.add_team(self.workspace, key, name, members=members)

    def admit(self, team: str, *, admitted: bool = True) -> None:
        """Let our app see a private team, or no longer."""
        with self.world.lock:
            self.scene.admit(self.app, self._team(team).id, admitted=admitted)

    def add_project(self, name: str, *teams: str) -> str:
        with self.world.lock:
            ids = [self._team(one).id for one in teams]
            return self.scene.add_project(self.workspace, name, ids)

    def guide(self, text: str, team: str = "") -> None:
        """Give agents a rule, in all of the workspace or in one team."""
        self.world.guidance.append((self._team(team).id if team else None, text))

    def create(
        self,
        team: str,
        author: str,
        title: str,
        description: str | None = None,
        *,
        labels: Iterable[str] = (),
        parent: str = "",
        **more: Any,
    ) -> str:
        """Open an issue and return its identifier; `more` are fields of `Issue`."""
        with self.world.lock:
            home = self._team(team)
            more["labels"] = [self._label(one, home) for one in labels]
            more["parent"] = self.issue(parent).id if parent else None
            made = acts.create(
                self.world,
                home.id,
                self._user(author),
                title,
                description=description,
                **more,
            )
            return self.world.identifier(made)

    def comment(self, key: str, author: str, text: str, *, parent: str = "") -> str:
        """Comment and return the comment's id; with `parent` it is an answer."""
        with self.world.lock:
            root = self.world.get(Comment, parent) if parent else None
            issue, user = self.issue(key), self._user(author)
            return acts.comment(self.world, issue, user, text, parent=root).id

    def edit_comment(self, comment_id: str, author: str, text: str) -> None:
        with self.world.lock:
            found = self.world.get(Comment, comment_id)
            acts.edit_comment(self.world, found, self._user(author), text)

    def delete_comment(self, comment_id: str, author: str = "") -> None:
        """Delete a comment, as its author unless another person is named."""
        with self.world.lock:
            found = self.world.get(Comment, comment_id)
            who = self._user(author or found.user or "")
            acts.delete_comment(self.world, found, who)

    def react(self, comment_id: str, author: str, emoji: str) -> str:
        with self.world.lock:
            user = self._user(author)
            return acts.react(self.world, user, emoji, comment=comment_id).id

    def label(self, key: str, author: str, label: str) -> None:
        with self.world.lock:
            issue = self.issue(key)
            added = self._label(label, self.world.get(Team, issue.team))
            labels = list(dict.fromkeys([*issue.labels, added]))
            self._change(key, author, labels=labels)

    def unlabel(self, key: str, author: str, label: str) -> None:
        with self.world.lock:
            issue = self.issue(key)
            gone = self._label(label, self.world.get(Team, issue.team))
            left = [one for one in issue.labels if one != gone]
            self._change(key, author, labels=left)

    def assign(self, key: str, author: str, person: str | None) -> None:
        """Give an issue to a person; an agent becomes its delegate instead."""
        is_agent = person is not None and self._user(person).app
        self._change(key, author, **{"delegate" if is_agent else "assignee": person})

    def delegate(self, key: str, author: str, agent: str | None) -> None:
        """Hand an issue to an agent, or take it back."""
        self._change(key, author, delegate=agent)

    def edit(self, key: str, author: str, **texts: str) -> None:
        """Change `title` or `description`."""
        self._change(key, author, **texts)

    def transition(self, key: str, author: str, state: str) -> None:
        with self.world.lock:
            states = self.world.states(self.issue(key).team)
            [found] = [one.id for one in states if one.name == state]
            self._change(key, author, state=found)

    def set_project(self, key: str, author: str, project: str | None) -> None:
        self._change(key, author, project=project)

    def move_to_team(self, key: str, author: str, team: str) -> str:
        """Move an issue to another team and return its new identifier."""
        with self.world.lock:
            issue = self.issue(key)
            self._change(key, author, team=self._team(team).id)
            return self.world.identifier(issue)

    def archive(self, key: str, author: str) -> None:
        self._change(key, author, archived=self.world.clock.now())

    def remove(self, key: str, author: str) -> None:
        """Move an issue to the trash."""
        with self.world.lock:
            acts.remove(self.world, self.issue(key), self._user(author))

    def relate(self, source: str, target: str, kind: str = "related") -> None:
        """Let one issue, for example, block another one: its kind is `blocks`."""
        with self.world.lock:
            acts.relate(self.world, self.issue(source), self.issue(target), kind)

    def attach(self, key: str, author: str, url: str, title: str, **more: Any) -> str:
        with self.world.lock:
            issue, user = self.issue(key), self._user(author)
            facts = {"url": url, "title": title, **more}
            return acts.attach(self.world, issue, user, **facts).id

    def upload(self, author: str, file: tuple[str, str, bytes]) -> str:
        """Upload a file of a name, a type and bytes; return its address for a text."""
        with self.world.lock:
            return files.keep(self.world, self._user(author), file)

    def sync(self, key: str, author: str, url: str) -> None:
        """Keep an issue in step with one of GitHub or GitLab at that address."""
        source = "gitlab" if "gitlab" in url else "github"
        with self.world.lock:
            self.issue(key).synced_with = url
            self.attach(key, author, url, url, source_type=source)

    def suggest(self, key: str, **confidence: float) -> None:
        """Say which repositories Linear thinks an issue is about, from 0 to 1.

        A repository is given as `owner__name`, since keywords hold no slash.
        """
        found = {name.replace("__", "/"): one for name, one in confidence.items()}
        self.issue(key).suggestions.update(found)

    def prompt(self, key: str, author: str, text: str) -> str:
        """Answer the agent in its newest session; return the comment's id."""
        with self.world.lock:
            user = self._user(author)
            return sessions.say(self.world, self.session(key), user, text).id

    def choose(self, key: str, author: str, value: str) -> str:
        """Pick one of the options that the agent asked about last."""
        with self.world.lock:
            asked = [one for one in self.activities(key) if one.signal == "select"]
            options = (asked[-1].signal_metadata or {})["options"]
            if value not in [one["value"] for one in options]:
                raise ValueError(f"{value} is none of the options: {options}")
            return self.prompt(key, author, value)

    def stop(self, key: str, author: str) -> None:
        """Press the button that asks the agent to stop."""
        with self.world.lock:
            sessions.stop(self.world, self.session(key), self._user(author))

    def issue(self, key: str) -> Issue:
        with self.world.lock:
            return self.world.issue(key)

    def keys(self) -> list[str]:
        """Return the identifiers of all issues, oldest first."""
        with self.world.lock:
            return [self.world.identifier(one) for one in self.world.all(Issue)]

    def been_in(self, key: str) -> list[str]:
        """Return the names of the states that an issue was brought to."""
        with self.world.lock:
            ids = self.issue(key).been_in
            return [self.world.get(WorkflowState, one).name for one in ids]

    def state(self, key: str) -> str:
        """Return the name of the state that an issue is in."""
        with self.world.lock:
            return self.world.get(WorkflowState, self.issue(key).state).name

    def labels(self, key: str) -> list[str]:
        with self.world.lock:
            ids = self.issue(key).labels
            return [self.world.get(Label, one).name for one in ids]

    def comments(self, key: str) -> list[Comment]:
        """Return the comments as they are now, oldest first."""
        with self.world.lock:
            return self.world.comments(self.issue(key))

    def reactions(self, comment_id: str) -> list[Reaction]:
        with self.world.lock:
            every = self.world.all(Reaction)
            return [one for one in every if comment_id in (one.comment, one.issue)]

    def attachments(self, key: str) -> list[Attachment]:
        with self.world.lock:
            issue = self.issue(key)
            return [o for o in self.world.all(Attachment) if o.issue == issue.id]

    def sessions(self, key: str) -> list[AgentSession]:
        """Return the sessions on an issue as they are by now, oldest first."""
        with self.world.lock:
            sessions.age(self.world)
            return self.world.sessions(self.issue(key))

    def session(self, key: str) -> AgentSession:
        """Return the newest session on an issue."""
        found = self.sessions(key)
        if not found:
            raise LookupError(f"{key} has no session")
        return found[-1]

    def activities(self, key: str) -> list[AgentActivity]:
        """Return what the newest session shows, oldest first."""
        with self.world.lock:
            return self.world.activities(self.session(key))

    def page(self, key: str) -> str:
        """Return the address at which people look at an issue."""
        with self.world.lock:
            return issue_url(self.world, self.issue(key))

    def untaken(self) -> list[Delivery]:
        """Return the deliveries that were last answered with anything but 200."""
        tried = [one for one in self.deliveries if one.receipts]
        return [one for one in tried if one.receipts[-1].status != webhooks.TAKEN]

    def retry(self, url: str) -> list[int]:
        """Carry again the deliveries that are due; return how they were answered."""
        return [one.status for one in webhooks.retry(self.world, url)]

    def _change(self, key: str, author: str, **fields: Any) -> None:
        with self.world.lock:
            acts.change(self.world, self.issue(key), self._user(author), **fields)

    def _user(self, user: str) -> User:
        return self.world.get(User, user)

    def _team(self, key: str) -> Team:
        for one in self.world.all(Team):
            if key in (one.key, one.id):
                return one
        raise LookupError(f"there is no team {key}")

    def _label(self, name: str, team: Team) -> str:
        return self.scene.label(team.workspace, name, team.id)
