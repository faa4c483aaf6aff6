"""What does the server remember? Accounts, jobs, releases and activations, in SQLite or PostgreSQL."""

from shoal.webapp.database.models import Account, Activation, Attempt, Job, LogFile, Release, Visit
from shoal.webapp.database.session import Database

__all__ = ["Account", "Activation", "Attempt", "Database", "Job", "LogFile", "Release", "Visit"]
