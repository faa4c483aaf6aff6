"""Which files of a release may leave the server? The public ones by name; never who is behind them."""

from pathlib import Path

from flask import send_file
from flask.typing import ResponseReturnValue

from shoal.anonymizer.release_files import MANIFEST, PROFILES, QUERIES, TAXONOMY
from shoal.corpus.errors import InputError
from shoal.webapp.admin.panel import panel
from shoal.webapp.context import database, settings
from shoal.webapp.database import Release
from shoal.webapp.releases import release_folder

# A list of what is allowed: a file that is added to releases later stays here until somebody thought of it.
PUBLIC = (PROFILES, QUERIES, MANIFEST, TAXONOMY)
ABOUT = ("certificate.json", "measures.json")


def downloadable(instance: Path, release_id: str) -> list[str]:
    return [name for name in (*PUBLIC, *ABOUT) if _path(instance, release_id, name).is_file()]


def public_file(instance: Path, release_id: str, name: str) -> Path:
    """The path of a public file, or an error that lists those that there are."""
    with database().reading() as session:
        known = session.get(Release, release_id)
    if known is None:
        raise InputError("no such release: choose one from the list of runs")
    if name not in downloadable(instance, known.id):
        raise InputError(f"no such file to download: there are {', '.join(downloadable(instance, known.id))}")
    return _path(instance, known.id, name)


def _path(instance: Path, release_id: str, name: str) -> Path:
    folder = release_folder(instance, release_id)
    return folder / name if name in PUBLIC else folder.parent / name


@panel.get("/releases/<release_id>/files/<name>")
def download(release_id: str, name: str) -> ResponseReturnValue:
    path = public_file(settings().instance, release_id, name)
    return send_file(path.resolve(), as_attachment=True, download_name=f"{release_id}-{name}")
