"""How are profiles made anonymous, and what does each way promise?

Compiled loops are kept on disk, which is safe because every process names what it compiles with numbers of its own.
Numba writes the machine code of @njit(cache=True) functions to disk, together with the code of what they call, under
names such as run_quicksort1 and a number that counts from 1 in each process. A sort that one process compiled and an
argsort that another compiled can so have one name; a third process that loads both calls the wrong one and crashes
(github.com/numba/numba/issues/10486 tells of the same). Numbers from a random start do not meet. And what an older
version kept is passed over by a newer one in which the type of an argument stands elsewhere: numba would end there.
"""

import os
from itertools import count
from secrets import randbits
from typing import Any

from numba import config
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile

from shoal.corpus.store.folders import cache_folder

_settings = vars(config)  # which numba fills from its environment
if not _settings["CACHE_DIR"] and not os.access(os.path.dirname(__file__), os.W_OK):
    _settings["CACHE_DIR"] = str(cache_folder() / "numba")  # an installation that is not ours to write to

_BITS = 48
_load_index = IndexDataCacheFile._load_index


def count_from_a_number_of_its_own() -> None:
    """Let this process number what it compiles from a random start."""
    FunctionIdentity._unique_ids = count(randbits(_BITS))


count_from_a_number_of_its_own()
os.register_at_fork(after_in_child=count_from_a_number_of_its_own)


def load_what_can_be_read(index: IndexDataCacheFile) -> dict[Any, Any]:
    """What is kept of a function, unless that names a type that is no longer there."""
    try:
        found: dict[Any, Any] = _load_index(index)
    except (ImportError, AttributeError):
        return {}
    return found


IndexDataCacheFile._load_index = load_what_can_be_read  # type: ignore[method-assign]  # there is no hook for it


def compile_method(id: str) -> None:
    """Compile the loops of a method and of its verifier, on a small log. They are kept, for every process."""
    # Imported here because every module of this package is imported after this.
    from shoal.anonymizer.claims import Evidence, verify
    from shoal.anonymizer.contract.sample_logs import sample_log
    from shoal.anonymizer.registry import make_method

    log, method = sample_log(), make_method(id, {})
    made = method.run(log)
    verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, method.knowledge))
