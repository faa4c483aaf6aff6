"""How are the pages put together? The application factory."""

from importlib.metadata import version

from apiflask import APIFlask

from shoal.corpus.progress import Progress, silent
from shoal.webapp import admin, api, errors, filters, operations, security
from shoal.webapp.pages import attack, document, mine, profile, reference, search
from shoal.webapp.service import start_service
from shoal.webapp.settings import Settings


def build_application(settings: Settings, progress: Progress = silent) -> APIFlask:
    """The application over the data of these settings; everything long is done before it returns."""
    settings.check()
    app = APIFlask(
        "shoal.webapp", title="Shoal", version=version("shoal"), docs_path=None, spec_path="/api/v1/openapi.json",
        json_errors=False,
    )  # fmt: skip
    app.secret_key = settings.secret_key()
    app.debug = settings.debug
    app.extensions["shoal.settings"] = settings
    app.extensions["shoal.service"] = start_service(settings, progress)
    security.register(app, tls=settings.tls, max_upload=settings.max_upload)
    errors.register(app)
    filters.register(app)
    for pages in (search, profile, attack, mine, document, reference):
        app.register_blueprint(pages.pages)
    app.register_blueprint(api.api)
    admin.register(app)
    operations.register(app)
    return app
