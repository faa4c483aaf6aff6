"""What do methods cost that treat some terms as private? The growth of CAHD, whose band of users is no dense matrix."""

from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import QUICK_SIZES, THESIS_SIZE, growth

FULL_SIZES = (*QUICK_SIZES, THESIS_SIZE, 150_000)
EXPONENT = 1.3


def run(full: bool, progress: Progress) -> list[Row]:
    return growth("cahd", FULL_SIZES if full else QUICK_SIZES, EXPONENT, progress, parameter="p")
