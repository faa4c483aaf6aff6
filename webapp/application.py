"""How are the pages put together? The application factory."""

from importlib.metadata import version

from apiflask import APIFlask

from corpus.progress import Progress, silent
from webapp import errors, filters, security
from webapp.interim import InterimReleases
from webapp.pages import document, search
from webapp.service import start_service
from webapp.settings import Settings


def build_application(settings: Settings, progress: Progress = silent) -> APIFlask:
    """The application over the data of these settings; everything long is done before it returns."""
    settings.check()
    app = APIFlask(
        __name__, title="Shoal", version=version("shoal"), docs_path=None, spec_path="/api/v1/openapi.json",
        json_errors=False,
    )  # fmt: skip
    app.secret_key = settings.secret_key()
    app.debug = settings.debug
    service = start_service(settings, progress)
    app.extensions["shoal.settings"] = settings
    app.extensions["shoal.service"] = service
    app.extensions["shoal.releases"] = InterimReleases(service.log)
    security.register(app, tls=settings.tls, max_upload=settings.max_upload)
    errors.register(app)
    filters.register(app)
    for pages in (search, document):
        app.register_blueprint(pages.pages)
    return app
