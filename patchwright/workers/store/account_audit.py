"""Note for good what became of an identity, and who did it."""

from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, insert

from patchwright.core.types.base import Value
from patchwright.core.types.ids import AccountId, Ids
from patchwright.core.types.people import Actor
from patchwright.workers.db.tables_people import account_audit
from patchwright.workers.store.identities import identity_name

AuditAction = Literal["linked", "unlinked", "tokens-forgotten"]


class AuditNote(Value):
    """`by` is an identity of the person, or what happened instead of one."""

    at: datetime
    actor: Actor
    by: str

    def write(
        self, connection: Connection, ids: Ids, account_id: AccountId, what: AuditAction
    ) -> None:
        row = {
            "id": ids.new(),
            "at": self.at,
            "account_id": account_id,
            "what": what,
            "identity": identity_name(self.actor, self.actor.host),
            "by": self.by,
        }
        connection.execute(insert(account_audit), row)
