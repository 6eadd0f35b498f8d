"""Run the migrations on the connection that `db.upgrade` hands over."""

from alembic import context

from patchwright.workers.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata
)
context.run_migrations()
