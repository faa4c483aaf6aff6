"""Does OpenSearch find, score, show, correct and rank as the other engines do? Their own tests, over real nodes."""

from tests.search import test_engines, test_personal, test_rerank

_OF_WHOOSH = "test_another_reader_maps_the_index_and_does_not_copy_it"
globals().update(
    (name, thing)
    for module in (test_engines, test_personal, test_rerank)
    for name, thing in vars(module).items()
    if name != _OF_WHOOSH and (name.startswith("test_") or hasattr(thing, "_fixture_function_marker"))
)
