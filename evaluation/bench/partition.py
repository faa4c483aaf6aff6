"""What does Partition cost? Its growth up to all of AOL."""

from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import FULL_SIZES, QUICK_SIZES, growth


def run(full: bool, progress: Progress) -> list[Row]:
    return growth("partition", FULL_SIZES if full else QUICK_SIZES, 1.2, progress)
