"""What does the application hold? The service, the releases, the settings and the database, for whoever answers."""

from flask import current_app

from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.service import SearchService
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database


def service() -> SearchService:
    found: SearchService = current_app.extensions["shoal.service"]
    return found


def releases() -> ActiveReleases:
    found: ActiveReleases = current_app.extensions["shoal.releases"]
    return found


def settings() -> Settings:
    found: Settings = current_app.extensions["shoal.settings"]
    return found


def database() -> Database:
    found: Database = current_app.extensions["shoal.database"]
    return found
