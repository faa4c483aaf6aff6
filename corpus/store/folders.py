"""The folders of this machine: one for what can be brought or made again, one for what cannot."""

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path


def cache_folder() -> Path:
    """SHOAL_CACHE, or what the platform sets aside for caches."""
    own = os.environ.get("SHOAL_CACHE")
    return Path(own).expanduser() if own else user_cache_path("shoal", appauthor=False)


def state_folder() -> Path:
    """SHOAL_STATE, or what the platform sets aside for the data of programs: accounts, runs, releases."""
    own = os.environ.get("SHOAL_STATE")
    return Path(own).expanduser() if own else user_data_path("shoal", appauthor=False)
