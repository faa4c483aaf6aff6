"""How are vectors made of documents that no memory holds? Read twice: words are counted, then each block is weighed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import scipy.sparse as sp

from shoal.corpus.documents import Document
from shoal.corpus.documents.document import RunningDigest
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.progress import Progress
from shoal.search.analysis import Analysis, analyse
from shoal.search.lexicon import Lexicon, make_lexicon
from shoal.search.query import ALL, TEXT, TITLE
from shoal.search.vectors import count_forms, weigh

# Documents that are in memory at once.
BLOCK = 5_000
Read = Callable[[], Iterable[Document]]


@dataclass(frozen=True, eq=False)
class Counted:
    """The words of a corpus: what grows with its vocabulary, and not with its documents."""

    lexicon: Lexicon
    holding: np.ndarray  # the documents that hold each form, stop words left out
    documents: int
    digest: str  # of the documents
    mean_lengths: dict[str, float]  # by field, in words

    @cached_property
    def number(self) -> dict[str, int]:
        return {form: number for number, form in enumerate(self.lexicon.forms)}


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents in a row, their words, and their vectors in the space of the whole corpus."""

    begin: int
    documents: tuple[Document, ...]
    analysis: Analysis
    vectors: sp.csr_matrix


def count_words(read: Read, progress: Progress) -> Counted:
    """The first reading."""
    held_word: dict[str, int] = {}
    held_form: dict[str, int] = {}
    documents, in_title, in_text = 0, 0, 0
    with RunningDigest() as running:
        for block in _blocks(read):
            progress(documents, 0, "counting words")
            for document in block:
                running.add(document)
            analysis = _analysed(block)
            _add(held_word, analysis.lexicon.words, analysis.lexicon.document_frequency)
            counts = count_forms(analysis)
            _add(held_form, analysis.lexicon.forms, np.bincount(counts.indices, minlength=counts.shape[1]))
            documents += len(block)
            in_title, in_text = in_title + len(analysis.title.ids), in_text + len(analysis.text.ids)
        digest = running.hexdigest()
    words = sorted(held_word)
    frequency = np.fromiter((held_word[word] for word in words), dtype=np.int32, count=len(words))
    lexicon = make_lexicon(words, frequency, load_wordnet().lemmas)
    holding = np.fromiter((held_form[form] for form in lexicon.forms), dtype=np.int64, count=len(lexicon.forms))
    lengths = {ALL: in_title + in_text, TITLE: in_title, TEXT: in_text}
    means = {field: length / max(documents, 1) for field, length in lengths.items()}
    return Counted(lexicon, holding, documents, digest, means)


def weighed_blocks(read: Read, counted: Counted) -> Iterator[Block]:
    """The second reading. Vectors are those that `make_vectors` makes of the whole corpus at once."""
    begin = 0
    for block in _blocks(read):
        analysis = _analysed(block)
        column = np.array([counted.number[form] for form in analysis.lexicon.forms], dtype=np.int32)
        counts = count_forms(analysis)
        placed = sp.csr_matrix(
            (counts.data, column[counts.indices], counts.indptr), shape=(len(block), len(counted.lexicon.forms))
        )
        yield Block(begin, block, analysis, weigh(placed, counted.holding, counted.documents))
        begin += len(block)


def _blocks(read: Read) -> Iterator[tuple[Document, ...]]:
    documents = iter(read())
    while block := tuple(islice(documents, BLOCK)):
        yield block


def _analysed(block: tuple[Document, ...]) -> Analysis:
    titles, texts = [document.title for document in block], [document.text for document in block]
    return analyse(titles, texts, load_wordnet().lemmas)


def _add(total: dict[str, int], names: list[str], more: np.ndarray) -> None:
    for name, count in zip(names, more.tolist(), strict=True):
        total[name] = total.get(name, 0) + count
