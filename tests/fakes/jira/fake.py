"""A Jira to test against: people act by method call, programs over real HTTP."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.types.base import Ids, RandomIds
from patchwright.integrations.jira.settings import JiraSettings
from tests.fakes.github.exchange import Answer
from tests.fakes.github.faults import When
from tests.fakes.jira import acts
from tests.fakes.jira.dispatch import RequestSeen
from tests.fakes.jira.site import Site
from tests.fakes.jira.state import (
    Comment,
    CustomField,
    Delivery,
    Issue,
    Link,
    Mail,
    Project,
    RemoteLink,
    User,
    Way,
)
from tests.fakes.jira.texts import typed

SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
SERVER_ERROR: Mapping[str, object] = {"errorMessages": ["Internal server error"]}
EPIC_LINK = "com.pyxis.greenhopper.jira:gh-epic-link"
TEXT_FIELD = "com.atlassian.jira.plugin.system.customfieldtypes:textarea"


class FakeJira:
    """Answers while its `with` block runs; everything it holds is gone afterwards.

    It is a site of the cloud, or with `cloud=False` a data center below the path
    `/jira`. It begins with our own user `bot`, whose `settings` connect to it, and with
    no project: `add_user`, `add_project`, then `create` a ticket and let people
    `comment`, `label`, `assign`, `edit`. Texts are typed as wiki markup, in which
    `mention(user)` calls somebody. Each act, also one through the API, is told by
    webhooks in `deliveries` once there is one (`add_webhook`), and `deliver` of
    `tests.fakes.jira.webhooks` carries one to its receiver; after `silence` nothing is
    told any more. What came of it is in `comments`, `issue`, `remote_links`, `mails`.
    Where `PATCHWRIGHT_CORPUS` is set, documents are held against the schema of ADF, and
    every exchange against Atlassian's descriptions when the block ends.
    """

    def __init__(
        self,
        *,
        cloud: bool = True,
        port: int = 0,
        clock: Clock = SYSTEM_CLOCK,
        ids: Ids = RANDOM_IDS,
        name: str = "",
    ) -> None:
        self._site = Site(cloud=cloud, port=port, name=name, clock=clock, ids=ids)
        self.world = self._site.world
        self.address = self._site.address
        self.bot = self.add_user("patchwright-bot", "Patchwright")

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
    def base_url(self) -> str:
        return self.world.base_url

    def settings(self, **more: Any) -> JiraSettings:
        """Return what our own user connects with; `more` are other settings."""
        user = self.world.users[self.bot]
        return JiraSettings.model_validate(
            {
                "type": "cloud" if self.world.is_cloud else "datacenter",
                "base_url": self.base_url,
                "user": user.email if self.world.is_cloud else "",
                "token": user.token,
                "projects": dict.fromkeys(self.world.projects, "acme/shop"),
                **more,
            }
        )

    @property
    def requests(self) -> list[RequestSeen]:
        """What was asked over HTTP so far."""
        return list(self._site.dispatch.log)

    @property
    def deliveries(self) -> list[Delivery]:
        """All webhooks sent so far, oldest first."""
        with self.world.lock:
            return list(self.world.deliveries)

    def delivery(self, event: str) -> Delivery:
        """Return the newest delivery of that event."""
        for delivery in reversed(self.deliveries):
            if delivery.event == event:
                return delivery
        raise LookupError(f"no {event} was delivered")

    @property
    def mails(self) -> list[Mail]:
        return list(self.world.mails)

    def fail_next(
        self,
        method: str,
        path_regex: str,
        status: int,
        *,
        headers: Mapping[str, str] | None = None,
        body: object = SERVER_ERROR,
        times: int = 1,
        when: When = When.INSTEAD,
    ) -> None:
        """Let the next matching requests fail, instead of their work or after it."""
        answer = Answer(status=status, headers=headers or {}, body=body)
        faults = self._site.dispatch.faults
        faults.add(method, path_regex, answer, times=times, when=when)

    def add_webhook(self, secret: str) -> None:
        """Let the site's administrator add a webhook, signed unless it is empty."""
        self.world.secrets.append(secret)

    def silence(self, *, silent: bool = True) -> None:
        """Send no webhooks, as a site behind a firewall does."""
        self.world.sends = not silent

    def stop_mail(self) -> None:
        self.world.sends_mail = False

    def add_user(
        self, name: str, display_name: str = "", *, is_app: bool = False
    ) -> str:
        """Make an account; return its id, by which it acts and is mentioned."""
        user = User(
            id=f"5b10ac{name}" if self.world.is_cloud else name,
            display_name=display_name or name.capitalize(),
            email=f"{name}@example.com",
            token=f"token-of-{name}",
            is_app=is_app,
        )
        with self.world.lock:
            self.world.users[user.id] = user
        return user.id

    def mention(self, user: str) -> str:
        """Return how somebody is called in a text."""
        return f"[~accountid:{user}]" if self.world.is_cloud else f"[~{user}]"

    def add_project(self, key: str, *, members: Iterable[str] | None = None) -> None:
        """Make a project that everybody may see, or its members and our own user."""
        seen_by = None if members is None else {*members, self.bot}
        with self.world.lock:
            self.world.projects[key] = Project(
                id=self.world.new_id(), key=key, name=key.title(), members=seen_by
            )

    def forbid(self, project: str, user: str, *, reading: bool = False) -> None:
        """Take away the permission to write there, or to read as well."""
        found = self.world.projects[project]
        found.silenced.add(user)
        if reading:
            everybody = (
                set(self.world.users) if found.members is None else found.members
            )
            found.members = everybody - {user}

    def add_field(self, name: str, *, custom: str = TEXT_FIELD) -> str:
        """Add a field of the site's own and return its id."""
        field = CustomField(
            id=f"customfield_{self.world.new_id()}", name=name, custom=custom
        )
        self.world.custom_fields.append(field)
        return field.id

    def add_way(
        self,
        name: str,
        target: str,
        *,
        sources: tuple[str, ...] = (),
        required: tuple[str, ...] = (),
        checked: tuple[str, ...] = (),
    ) -> None:
        """Add a transition, which may want fields to be filled in."""
        way = Way(id=self.world.new_id(), name=name, sources=sources, target=target)
        way.required, way.checked = required, checked
        self.world.ways.append(way)

    def create(
        self,
        project: str,
        author: str,
        summary: str,
        description: str | None = None,
        **more: Any,
    ) -> str:
        """Open a ticket and return its key; `more` are other fields of `Issue`."""
        with self.world.lock:
            text = None if description is None else self._typed(description)
            return acts.create(self.world, project, author, summary, text, **more).key

    def comment(
        self,
        key: str,
        author: str,
        text: str,
        *,
        role: str = "",
        internal: bool = False,
    ) -> str:
        """Comment and return the comment's id; with `role` only that role sees it.

        An `internal` one is a note that customers of a service desk do not see.
        """
        note = {"sd.public.comment": {"internal": True}} if internal else None
        limit = {"type": "role", "value": role} if role else None
        with self.world.lock:
            return acts.comment(
                self.world,
                self.world.issues[key],
                author,
                self._typed(text),
                visibility=limit,
                properties=note,
            ).id

    def move_to_project(self, key: str, author: str, project: str) -> str:
        """Move a ticket to another project and return its new key."""
        with self.world.lock:
            return acts.move(self.world, self.world.issues[key], author, project)

    def edit_comment(self, comment_id: str, author: str, text: str) -> None:
        with self.world.lock:
            acts.edit_comment(self.world, comment_id, author, self._typed(text))

    def delete_comment(self, comment_id: str) -> None:
        with self.world.lock:
            acts.delete_comment(self.world, comment_id)

    def label(self, key: str, author: str, label: str) -> None:
        with self.world.lock:
            issue = self.world.issues[key]
            acts.set_labels(self.world, issue, author, [*issue.labels, label])

    def unlabel(self, key: str, author: str, label: str) -> None:
        with self.world.lock:
            issue = self.world.issues[key]
            left = [one for one in issue.labels if one != label]
            acts.set_labels(self.world, issue, author, left)

    def assign(self, key: str, author: str, person: str | None) -> None:
        with self.world.lock:
            acts.assign(self.world, self.world.issues[key], author, person)

    def edit(self, key: str, author: str, **texts: str) -> None:
        """Change `summary` or `description`."""
        with self.world.lock:
            issue = self.world.issues[key]
            for field, text in texts.items():
                new = text if field == "summary" else self._typed(text)
                acts.edit(self.world, issue, author, field, new)

    def fill_in(self, key: str, author: str, field_id: str, text: str) -> None:
        """Fill in a field of the site's own, of words or of an epic's key."""
        with self.world.lock:
            issue = self.world.issues[key]
            acts.set_custom(self.world, issue, author, field_id, text)

    def transition(self, key: str, author: str, status: str) -> None:
        with self.world.lock:
            acts.transition(self.world, self.world.issues[key], author, status)

    def attach(self, key: str, author: str, file: tuple[str, str, bytes]) -> str:
        """Attach a file of a name, a type and bytes; return the attachment's id."""
        with self.world.lock:
            return acts.attach(self.world, self.world.issues[key], author, file).id

    def link(self, source: str, target: str, outward: str, inward: str) -> None:
        """Let one ticket, for example, block another one."""
        with self.world.lock:
            words = {"name": outward, "outward": outward, "inward": inward}
            name = self.world.new_id()
            self.world.links.append(
                Link(id=name, source=source, target=target, **words)
            )

    def issue(self, key: str) -> Issue:
        with self.world.lock:
            return self.world.issues[key]

    def comments(self, key: str) -> list[Comment]:
        """Return the comments as they are now, oldest first."""
        with self.world.lock:
            return list(self.world.issues[key].comments)

    def remote_links(self, key: str) -> list[RemoteLink]:
        with self.world.lock:
            return list(self.world.issues[key].remote_links)

    def _typed(self, text: str) -> Any:
        return typed(text, is_cloud=self.world.is_cloud)
