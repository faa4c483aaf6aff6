"""What do the tests of commands stand on? The recipes and the cooks that the evaluation is tested with."""

from tests.evaluation.conftest import corpus_file, log_file, own_cache  # noqa: F401
