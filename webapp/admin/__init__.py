"""What does an operator see and do? The panel at /admin, and what it stands on."""

from apiflask import APIFlask

from webapp.first_start import open_instance
from webapp.service import SearchService
from webapp.settings import Settings


def register(app: APIFlask) -> None:
    """Open the database and the releases, and add the panel."""
    settings: Settings = app.extensions["shoal.settings"]
    service: SearchService = app.extensions["shoal.service"]
    database, releases = open_instance(settings, service.log, service.index)
    app.extensions["shoal.database"] = database
    app.extensions["shoal.releases"] = releases
