"""What does a query mean? One small grammar for every engine: words, "phrases", title:word and text:"a phrase"."""

import re
from dataclasses import dataclass

from shoal.corpus.tokens import STOP_WORDS, tokenize

# Field ALL is title and text together: what words without a field are looked up in, and what scores them.
ALL, TITLE, TEXT = "all", "title", "text"
FIELDS = (ALL, TITLE, TEXT)

# As web search engines do, a query is read up to its 32nd part: a pasted page is answered, at a bounded cost.
MAX_CLAUSES = 32
MAX_CHARACTERS = 2_000

# A quote that is never closed runs to the end of the query.
_PART = re.compile(r'(?:(?P<field>title|text):)?(?:"(?P<phrase>[^"]*)"?|(?P<words>[^\s"]+))', re.IGNORECASE)


@dataclass(frozen=True)
class Clause:
    """One thing to look for in one field: a word, or several in a row."""

    field: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        words = " ".join(self.words)
        quoted = f'"{words}"' if len(self.words) > 1 else words
        return quoted if self.field == ALL else f"{self.field}:{quoted}"


def parse_query(query: str) -> tuple[Clause, ...]:
    """The clauses of a query; a document that holds any of them is found. No query is refused.

    Stop words count inside phrases only. A query of nothing but stop words ("the who") is one phrase.
    """
    clauses: list[Clause] = []
    stopped: list[str] = []
    for part in _PART.finditer(query[:MAX_CHARACTERS]):
        field = (part["field"] or ALL).lower()
        if part["phrase"] is not None:
            clauses.append(Clause(field, tuple(tokenize(part["phrase"])[:MAX_CLAUSES])))
            continue
        for word in tokenize(part["words"]):
            if field == ALL and word in STOP_WORDS:
                stopped.append(word)
            else:
                clauses.append(Clause(field, (word,)))
    found = list(dict.fromkeys(clause for clause in clauses if clause.words))
    if not found and stopped:
        found = [Clause(ALL, tuple(stopped[:MAX_CLAUSES]))]
    return tuple(found[:MAX_CLAUSES])
