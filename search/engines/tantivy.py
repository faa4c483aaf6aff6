"""How does tantivy find candidates? The engine for corpora above some 50,000 documents."""

from pathlib import Path

import numpy as np
import tantivy

from shoal.corpus.progress import Progress, silent
from shoal.search.analysis import Analysis
from shoal.search.document_store import DocumentStore
from shoal.search.engines.base import Candidates, Engine, first
from shoal.search.lexicon import Lexicon
from shoal.search.query import ALL, FIELDS, TEXT, TITLE, Clause
from shoal.search.spelling import Speller

POSITION = "position"


def build(analysis: Analysis, folder: Path, progress: Progress = silent) -> None:
    """Write the index of all three fields into an empty folder."""
    try:
        _build(analysis, folder, progress)
    except ValueError as error:
        if "IO error" not in str(error):
            raise
        raise OSError(str(error)) from error  # so tantivy tells of a full disk


def _build(analysis: Analysis, folder: Path, progress: Progress) -> None:
    writer = tantivy.Index(_schema(), path=str(folder)).writer(heap_size=256_000_000, num_threads=1)
    try:
        _add_all(analysis, writer, progress)
        writer.commit()
    except BaseException:
        writer.rollback()
        raise
    finally:
        writer.wait_merging_threads()


def _add_all(analysis: Analysis, writer: tantivy.IndexWriter, progress: Progress) -> None:
    forms = np.array(analysis.lexicon.forms, dtype=object)
    for i in range(len(analysis)):
        if i % 200 == 0:
            progress(i, len(analysis), "indexing with tantivy")
        title, text = analysis.title.words(forms, i), analysis.text.words(forms, i)
        document = tantivy.Document()
        document.add_unsigned(POSITION, i)
        # Two values of one field: tantivy leaves a gap between them that no phrase crosses.
        for field, value in ((ALL, title), (ALL, text), (TITLE, title), (TEXT, text)):
            document.add_text(field, value)
        writer.add_document(document)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for field in FIELDS:
        # The forms are joined by spaces: our tokenizer has done the work.
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    return builder.add_unsigned_field(POSITION, fast=True, indexed=True).build()


class TantivyEngine(Engine):
    """One searcher, opened once; tantivy's searchers may be shared by threads."""

    def __init__(self, folder: Path, lexicon: Lexicon, store: DocumentStore) -> None:
        super().__init__(lexicon, store, Speller(lexicon))
        index = tantivy.Index.open(str(folder))
        index.config_reader("manual", 0)
        index.reload()
        self._schema, self._searcher = index.schema, index.searcher()

    def _best(self, wanted: tuple[Clause, ...], excluded: tuple[Clause, ...], limit: int) -> Candidates:
        query = self._any_of([self._query(clause) for clause in wanted])
        if excluded:
            without = [(tantivy.Occur.MustNot, self._query(clause)) for clause in excluded]
            query = tantivy.Query.boolean_query([_must(query), *without])
        most = limit
        while True:
            # One more than asked for, and twice as many while the cut runs through equal scores.
            hits = self._searcher.search(query, limit=most + 1, count=False).hits
            if len(hits) <= most or hits[limit - 1][0] != hits[-1][0]:
                break
            most *= 2
        positions = self._searcher.fast_field_values(POSITION, [address for _, address in hits])
        scores = np.array([score for score, _ in hits], dtype=np.float64)
        return first(np.array(positions, dtype=np.int64), scores, limit)

    def _part(self, clause: Clause, document: int) -> float:
        """A clause's own score: the clause and that one document, which adds nothing."""
        only = tantivy.Query.term_query(self._schema, POSITION, document)
        both = [_must(tantivy.Query.const_score_query(only, 0.0)), _must(self._query(clause))]
        hits = self._searcher.search(tantivy.Query.boolean_query(both), limit=1, count=False).hits
        return float(hits[0][0]) if hits else 0.0

    def _query(self, clause: Clause) -> tantivy.Query:
        terms = [tantivy.Query.term_query(self._schema, clause.field, form) for form in dict.fromkeys(clause.words)]
        if len(clause.words) == 1:
            return terms[0]
        # A phrase is scored by the words that make it up, as in the other engine.
        phrase = tantivy.Query.phrase_query(self._schema, clause.field, list(clause.words))
        held = _must(tantivy.Query.const_score_query(phrase, 0.0))
        return tantivy.Query.boolean_query([held, *map(_must, terms)])

    def _any_of(self, queries: list[tantivy.Query]) -> tantivy.Query:
        if len(queries) == 1:
            return queries[0]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def close(self) -> None:
        """Nothing is held but mapped memory, which goes with the searcher."""


def _must(query: tantivy.Query) -> tuple[tantivy.Occur, tantivy.Query]:
    return tantivy.Occur.Must, query
