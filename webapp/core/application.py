"""How are the pages put together? The application factory."""

from apiflask import APIFlask
from flask_wtf.csrf import CSRFProtect

from shoal.corpus.progress import Progress, silent
from shoal.corpus.version import VERSION
from shoal.webapp import api
from shoal.webapp.api import access
from shoal.webapp.api import operator as operator_api
from shoal.webapp.api import searcher as searcher_api
from shoal.webapp.core import bodies, errors, formats, headers, health, served_data, tokens
from shoal.webapp.core.instance import open_database
from shoal.webapp.core.settings import Settings
from shoal.webapp.jobs.tokens import offer_groups
from shoal.webapp.jobs.worker import tend
from shoal.webapp.operator import (
    accounts,
    audit,
    compare,
    data,
    evaluations,
    login,
    methods,
    overview,
    panel,
    releases,
    runs,
)
from shoal.webapp.operator import tokens as operator_tokens
from shoal.webapp.searcher import (
    answer,
    attack,
    document,
    knows,
    manual,
    mine,
    pages,
    people,
    search,
    start,
    token,
    why,
)

# Each adds its routes to the pages when it is imported.
PAGES = (start, search, why, people, knows, attack, answer, mine, document, token, manual)
PANEL = (login, overview, methods, runs, compare, releases, evaluations, data, accounts, audit, operator_tokens)
OF_PROGRAMS = (access,)  # adds to the operator's API
csrf = CSRFProtect()


def build_application(settings: Settings, progress: Progress = silent) -> APIFlask:
    """The application over the data of these settings; everything long is done before it returns."""
    app = assemble(settings)
    open_data(app, progress)
    start_jobs(app)
    return app


def assemble(settings: Settings) -> APIFlask:
    """The application without its data: it can be forked."""
    settings.check()
    app = APIFlask(
        "shoal.webapp", title="Shoal", version=VERSION, docs_path=None, spec_path="/api/v1/openapi.json",
        json_errors=False,
    )  # fmt: skip
    app.extensions["shoal.settings"] = settings
    app.debug = settings.debug
    served_data.register(app)
    headers.register(app, settings)
    bodies.register(app)
    errors.register(app)
    formats.register(app)
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # a form is good for as long as its session
    csrf.init_app(app)
    app.before_request(bodies.check_texts)
    app.before_request(tokens.refuse_bad_token)
    for routes in (pages, api.pages, searcher_api.api, panel, operator_api.api):
        app.register_blueprint(routes)
    csrf.exempt(operator_api.log_in)
    health.register(app)
    return app


def open_data(app: APIFlask, progress: Progress = silent) -> None:
    """The key, the database with all its checks, then the corpus, the log and the release that are served."""
    settings = app.extensions["shoal.settings"]
    app.secret_key = settings.secret_key()
    database = app.extensions["shoal.database"] = open_database(settings)
    served_data.begin(app, settings, database, progress)


def start_jobs(app: APIFlask) -> None:
    """Those that wait, each in a process of its own."""
    database, releases = app.extensions["shoal.database"], app.extensions["shoal.releases"]
    offer_groups(database, releases.log_digest, releases.current_id())
    tend(database, app.extensions["shoal.settings"])
