"""What does an operator see and do? The panel at /admin, and what it stands on."""

from apiflask import APIFlask

from shoal.webapp import api_admin
from shoal.webapp.admin import choosing, data, downloads, entrance, switching, watching
from shoal.webapp.admin.panel import csrf, panel
from shoal.webapp.first_start import open_instance
from shoal.webapp.jobs.runner import tend
from shoal.webapp.service import SearchService
from shoal.webapp.settings import Settings

# Each adds its routes to the panel when it is imported.
PARTS = (entrance, watching, choosing, switching, data, downloads)


def register(app: APIFlask) -> None:
    """Open the database and the releases, and add the panel."""
    settings: Settings = app.extensions["shoal.settings"]
    service: SearchService = app.extensions["shoal.service"]
    database, releases = open_instance(settings, service.log, service.index)
    app.extensions["shoal.database"] = database
    app.extensions["shoal.releases"] = releases
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # a form is good for as long as its session
    csrf.init_app(app)
    app.register_blueprint(panel)
    app.register_blueprint(api_admin.api)
    csrf.exempt(api_admin.log_in)
    tend(database, settings)
