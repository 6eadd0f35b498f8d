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
from patchwright.workers.api.cursors import (
    NamePosition,
    PageQuery,
    read_name,
    write_cursor,
)
from patchwright.workers.api.operations import (
    AnyOperation,
    Call,
    NoInput,
    read_operation,
)
from patchwright.workers.api.queries import SpendPart, load_spend, repositories_by_name
from patchwright.workers.api.schemas import (
    AccountView,
    RepositoryList,
    RepositoryView,
    SettingList,
    SettingView,
    SpendReport,
    SpendView,
    account_view,
)
from patchwright.workers.db.database import Database
from patchwright.workers.web.run_access import RunAccess


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

    def read_account(self, call: Call[NoInput, NoInput]) -> AccountView:
        """Tell who sends this request, and what they may do."""
        return account_view(call.principal)

    def list_repositories(self, call: Call[PageQuery, NoInput]) -> RepositoryList:
        """List the repositories with conversations that you can read."""
        items: list[RepositoryView] = []
        for repo in repositories_by_name(self.database, read_name(call.query.cursor)):
            if not self._may_see(call.principal, repo):
                continue
            items.append(RepositoryView(forge=repo.forge, name=repo.full_name))
            if len(items) == call.query.limit:
                cursor = write_cursor(NamePosition(name=str(repo)))
                return RepositoryList(items=tuple(items), next=cursor)
        return RepositoryList(items=tuple(items))

    def read_spend(self, call: Call[SpendQuery, NoInput]) -> SpendReport:
        """Return what model calls cost, by day, repository or person."""
        since = self.clock.now().date() - timedelta(days=call.query.days - 1)
        parts = load_spend(self.database, call.query.by, since)
        return SpendReport(
            since=since.isoformat(),
            spent_usd=sum(one.spent_usd for one in parts),
            assumed_usd=sum(one.assumed_usd for one in parts),
            items=tuple(SpendView(**dict(one)) for one in parts),
        )

    def read_settings(self, _call: Call[NoInput, NoInput]) -> SettingList:
        """Return the settings as they count now, without the secrets."""
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


def installation_operations(own: Installation) -> tuple[AnyOperation, ...]:
    return (
        read_operation("/api/account", own.read_account, NoInput, AccountView),
        read_operation(
            "/api/repositories", own.list_repositories, PageQuery, RepositoryList
        ),
        read_operation(
            "/api/spend", own.read_spend, SpendQuery, SpendReport, least=Role.ADMIN
        ),
        read_operation(
            "/api/settings", own.read_settings, NoInput, SettingList, least=Role.ADMIN
        ),
    )
