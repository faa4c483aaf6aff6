"""How do migrations run? On the connection that the program gives, in one transaction."""

from alembic import context

from shoal.webapp.database.models import Table

connection = context.config.attributes["connection"]
# SQLite cannot change a column, so alembic copies the table instead.
context.configure(connection=connection, target_metadata=Table.metadata, render_as_batch=True, compare_type=True)
with context.begin_transaction():
    if connection.dialect.name == "postgresql":
        # Several processes may start at once: one migrates, the others wait and find it done.
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7462)")
    context.run_migrations()
