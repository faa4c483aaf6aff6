"""What do all tests share? Random examples that are the same in every run, so that a failure is a change's fault."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("random")
# HYPOTHESIS_PROFILE=random looks for new ones.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
