"""What the installation has and is: account, repositories, spend and settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from pydantic import Field, JsonValue

from patchwright.core.settings.model import (
    Settings,
    ValueForm,
    dotted_key,
    find_key,
    find_section,
)
from patchwright.core.system.clock import Clock
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.api.operations import AnyOperation, Call, NoInput, Operation
from patchwright.workers.api.paging import (
    NamePosition,
    PageQuery,
    read_name,
    write_cursor,
)
from patchwright.workers.api.queries import SpendPart, list_repositories, load_spend
from patchwright.workers.api.schemas import (
    AccountView,
    RepositoryPage,
    RepositoryView,
    SettingList,
    SettingView,
    SpendReport,
    SpendView,
    account_view,
)
from patchwright.workers.db.database import Database
from patchwright.workers.web.pages.access import RunAccess


class SpendQuery(Value):
    """Which spend is wanted."""

    by: SpendPart = Field(SpendPart.DAY, description="Into what it is parted.")
    days: int = Field(30, ge=1, le=366, description="How many days, with today.")


@dataclass(frozen=True)
class Installation:
    """What an installation tells of itself."""

    database: Database
    settings: Settings
    redactor: Redactor
    access: RunAccess
    clock: Clock

    def repositories(
        self, principal: Principal, after: str, limit: int
    ) -> RepositoryPage:
        items: list[RepositoryView] = []
        for repo in list_repositories(self.database, after):
            if not self._may_see(principal, repo):
                continue
            items.append(RepositoryView(forge=repo.forge, name=repo.full_name))
            if len(items) == limit:
                cursor = write_cursor(NamePosition(name=str(repo)))
                return RepositoryPage(items=tuple(items), next=cursor)
        return RepositoryPage(items=tuple(items))

    def spend(self, query: SpendQuery) -> SpendReport:
        since = self.clock.now().date() - timedelta(days=query.days - 1)
        parts = load_spend(self.database, query.by, since)
        return SpendReport(
            since=since.isoformat(),
            spent_usd=sum(one.spent_usd for one in parts),
            assumed_usd=sum(one.assumed_usd for one in parts),
            items=tuple(SpendView(**dict(one)) for one in parts),
        )

    def effective_settings(self) -> SettingList:
        tree = self.settings.model_dump(mode="json")
        return SettingList(items=tuple(self._settings(tree, ())))

    def _settings(
        self, tree: Mapping[str, JsonValue], path: tuple[str, ...]
    ) -> Iterator[SettingView]:
        root = type(self.settings)
        for name, value in tree.items():
            here = (*path, name)
            known = find_key(root, here)
            if known is None and find_section(root, here) and isinstance(value, dict):
                yield from self._settings(value, here)
                continue
            # Of what nobody knows, nobody knows whether it is a secret.
            is_secret = known is None or known.form is ValueForm.SECRET
            shown = None if is_secret else self.redactor.redact_json(value)
            yield SettingView(
                key=dotted_key(here),
                value=shown,
                is_secret=is_secret,
                is_set=value not in (None, "", [], {}),
            )

    def _may_see(self, principal: Principal, repo: RepoRef) -> bool:
        if principal.is_admin:
            return True
        person = principal.identity
        if person is None or person.service != repo.forge:
            return False
        return self.access.may_read(repo, person)


def installation_operations(installation: Installation) -> tuple[AnyOperation, ...]:
    def read_account(call: Call[NoInput, NoInput]) -> Value:
        return account_view(call.principal)

    def list_all(call: Call[PageQuery, NoInput]) -> Value:
        after = read_name(call.query.cursor)
        return installation.repositories(call.principal, after, call.query.limit)

    def read_spend(call: Call[SpendQuery, NoInput]) -> Value:
        return installation.spend(call.query)

    def read_settings(_call: Call[NoInput, NoInput]) -> Value:
        return installation.effective_settings()

    return (
        Operation(
            name="read_account",
            method="GET",
            path="/api/account",
            summary="Tell who sends this request, and what they may do",
            least=Role.VIEWER,
            query=NoInput,
            body=NoInput,
            answer=AccountView,
            handle=read_account,
        ),
        Operation(
            name="list_repositories",
            method="GET",
            path="/api/repositories",
            summary="List the repositories with conversations that you may read",
            least=Role.VIEWER,
            query=PageQuery,
            body=NoInput,
            answer=RepositoryPage,
            handle=list_all,
        ),
        Operation(
            name="read_spend",
            method="GET",
            path="/api/spend",
            summary="Return what model calls cost, by day, repository or person",
            least=Role.ADMIN,
            query=SpendQuery,
            body=NoInput,
            answer=SpendReport,
            handle=read_spend,
        ),
        Operation(
            name="read_settings",
            method="GET",
            path="/api/settings",
            summary="Return the settings as they count now, without the secrets",
            least=Role.ADMIN,
            query=NoInput,
            body=NoInput,
            answer=SettingList,
            handle=read_settings,
        ),
    )
