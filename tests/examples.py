"""How many random examples does a test try? A share of them in every run, all where new ones are looked for.

The examples of a run are the same every time, so that a failure is a change's fault. `HYPOTHESIS_PROFILE=random` looks
for new ones, and takes its time.
"""

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "same")
_SHARE = 1 if PROFILE == "random" else 3

settings.register_profile("same", derandomize=True)
settings.register_profile("random")


def examples(many: int) -> settings:
    """So many examples of a test where new ones are looked for, and a third of them otherwise."""
    return settings(max_examples=many // _SHARE, deadline=None)
