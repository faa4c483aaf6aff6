"""How much does each published term blur? The loss metric for bags (bLM; Liu & Wang, V-A).

Each label of a profile stands for a bag: the occurrences of all its users that it generalizes, or that it replaces as
their typical term. An occurrence in a bag of n distinct terms loses LM = (n - 1) / (leaves - 1), a suppressed one 1.
"""

import numpy as np

from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.evaluation.measures.fate import Standing


def bLM(standing: Standing, taxonomy: Taxonomy) -> float:
    """The mean loss over all term occurrences."""
    rows = np.stack([standing.entry, standing.term])
    entry = np.unique(rows, axis=1)[0] if len(standing.entry) else standing.entry
    distinct = np.bincount(entry, minlength=int(standing.entry.max(initial=-1)) + 1)
    LM = (distinct - 1) / max(1, int(taxonomy.leaves[0]) - 1)
    return standing.lost(LM[standing.entry], replaced_too=True) / max(1.0, standing.occurrences)
