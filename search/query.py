"""What does a query mean? One small grammar for every engine: words, "phrases", title:word, and -word for without."""

import re
from dataclasses import dataclass

from shoal.corpus.tokens import STOP_WORDS, tokenize

# Field ALL is title and text together: what words without a field are looked up in, and what scores them.
ALL, TITLE, TEXT = "all", "title", "text"
FIELDS = (ALL, TITLE, TEXT)

# As web search engines do, a query is read up to its 32nd part: a pasted page is answered, at a bounded cost.
MAX_CLAUSES = 32
MAX_CHARACTERS = 2_000

# A quote that is never closed runs to the end of the query. A minus counts before a part, not inside a word.
_PART = re.compile(
    r'(?P<without>(?<!\S)-(?=\S))?(?:(?P<field>title|text):)?(?:"(?P<phrase>[^"]*)"?|(?P<words>[^\s"]+))', re.IGNORECASE
)


@dataclass(frozen=True)
class Clause:
    """One thing to look for in one field: a word, or several in a row. Excluded: what no document found may hold."""

    field: str
    words: tuple[str, ...]
    excluded: bool = False

    def __str__(self) -> str:
        words = " ".join(self.words)
        quoted = f'"{words}"' if len(self.words) > 1 else words
        found = quoted if self.field == ALL else f"{self.field}:{quoted}"
        return f"-{found}" if self.excluded else found


def parse_query(query: str) -> tuple[Clause, ...]:
    """The clauses of a query; a document that holds any of them, and none that is excluded, is found.

    No query is refused; one that only excludes finds nothing.

    Stop words count inside phrases only. A query of nothing but stop words ("the who") is one phrase.
    """
    clauses: list[Clause] = []
    stopped: list[str] = []
    for part in _PART.finditer(query[:MAX_CHARACTERS]):
        field, excluded = (part["field"] or ALL).lower(), part["without"] is not None
        if part["phrase"] is not None:
            clauses.append(Clause(field, tuple(tokenize(part["phrase"])[:MAX_CLAUSES]), excluded))
            continue
        for word in tokenize(part["words"]):
            if field != ALL or word not in STOP_WORDS:
                clauses.append(Clause(field, (word,), excluded))
            elif not excluded:
                stopped.append(word)
    found = list(dict.fromkeys(clause for clause in clauses if clause.words))
    if stopped and all(clause.excluded for clause in found):
        found.insert(0, Clause(ALL, tuple(stopped[:MAX_CLAUSES])))
    return tuple(found[:MAX_CLAUSES])
