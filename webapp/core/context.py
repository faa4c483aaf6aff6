"""What does the application hold? The service, the releases, the settings and the database, for whoever answers."""

from typing import Any

from flask import current_app, g

from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.service import SearchService
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database


def service() -> SearchService:
    found: SearchService = _held("service")
    return found


def releases() -> ActiveReleases:
    found: ActiveReleases = _held("releases")
    return found


def settings() -> Settings:
    found: Settings = _held("settings")
    return found


def _held(name: str) -> Any:
    """An answer goes on with what it began with, also when other data is chosen meanwhile."""
    return g.get(name) or current_app.extensions[f"shoal.{name}"]


def database() -> Database:
    found: Database = current_app.extensions["shoal.database"]
    return found
