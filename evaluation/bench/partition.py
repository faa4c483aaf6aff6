"""What does Partition cost? Its growth up to all of AOL."""

from corpus.progress import Progress
from evaluation.bench import Row
from evaluation.bench.clump import FULL_SIZES, QUICK_SIZES, growth


def run(full: bool, progress: Progress) -> list[Row]:
    return growth("partition", FULL_SIZES if full else QUICK_SIZES, 1.2, progress)
