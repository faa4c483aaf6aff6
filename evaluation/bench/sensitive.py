"""What do methods cost that treat some terms as private? CAHD without a dense matrix, and two on rules."""

from shoal.anonymizer.base import ProfileMethod
from shoal.anonymizer.registry import make_method
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import QUICK_SIZES, THESIS_SIZE, growth, zipf_profiles
from shoal.evaluation.run.timing import in_own_process, timed

FULL_SIZES = (*QUICK_SIZES, THESIS_SIZE, 150_000)
EXPONENT = 1.3
FEW, MINUTES = 1_000, 2
SLOWER = {
    "coherence": {"p": 2},
    "uncertainty": {"antecedent": 2},
}  # methods that count sets of terms, with how many each


def run(full: bool, progress: Progress) -> list[Row]:
    rows = growth("cahd", FULL_SIZES if full else QUICK_SIZES, EXPONENT, progress, parameter="p")
    for method, settings in SLOWER.items():
        progress(0, len(SLOWER), f"{method}: {FEW:,} transactions")
        seconds, _, megabytes = in_own_process(seconds_with, method, settings)
        named = ", ".join([method, *(f"{name}={value}" for name, value in settings.items())])
        reached = f"{seconds:.1f} s, {megabytes:,.0f} MB"
        rows.append(Row(named, f"{FEW:,} transactions", f"{MINUTES} min", reached, seconds <= 60 * MINUTES))
    return rows


def seconds_with(method: str, settings: dict[str, int]) -> float:
    """Seconds of one release; compiling is not counted."""
    made_by = make_method(method, settings)
    assert isinstance(made_by, ProfileMethod)
    made_by.anonymize(zipf_profiles(50))
    profiles = zipf_profiles(FEW)
    return timed(lambda: made_by.anonymize(profiles))[1]
