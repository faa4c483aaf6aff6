"""The cache folder of this machine: where everything that can be brought or made again is kept."""

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """SHOAL_CACHE, or what the platform sets aside for caches."""
    own = os.environ.get("SHOAL_CACHE")
    return Path(own).expanduser() if own else user_cache_path("shoal", appauthor=False)
