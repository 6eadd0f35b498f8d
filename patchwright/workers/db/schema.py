"""All tables of the service, declared."""

from patchwright.workers.db import tables, tables_ops, tables_people, tables_talk
from patchwright.workers.db.metadata import metadata

__all__ = ["metadata", "tables", "tables_ops", "tables_people", "tables_talk"]
