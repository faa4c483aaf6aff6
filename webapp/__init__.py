"""What do people see in a browser?"""

from typing import TYPE_CHECKING

from shoal.corpus.progress import Progress, silent

if TYPE_CHECKING:
    from apiflask import APIFlask

    from shoal.webapp.core.settings import Settings


def create_app(settings: "Settings", progress: Progress = silent) -> "APIFlask":
    """The application over the data of these settings. Commands that serve nothing need not wait for its imports."""
    from shoal.webapp.core.application import build_application

    return build_application(settings, progress)
