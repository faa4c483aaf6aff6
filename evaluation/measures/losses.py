"""How much do profiles lose by being published? Distortion (GGD), blurred terms (bLM), certainty (NCP), suppression.

An occurrence that is published as it is costs 0, and 1 if it is suppressed. Between, the papers differ in what a label
costs that stands for several terms; a bag of n terms counts as a node with n leaves.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Dictionary, Taxonomy
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize_column
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.occurrences import Standing, leaves_of, profiles_held
from shoal.evaluation.measures.release import MeasuredRelease

_THESIS = "Milani Fard 2010, Def. 3.2.3"


@dataclass(frozen=True)
class OtherWords:
    """Occurrences of words that no profile holds; `released` are those that published queries still have."""

    occurrences: int = 0
    released: int = 0


def other_words(release: Release, assignment: Assignment, log: QueryLog, knowledge: Knowledge) -> OtherWords:
    own = build_profiles(log, _Unknown(knowledge.words))
    total = int(own.occurrences.sum())
    if release.queries is None or release.generalized.any():  # what is generalized is no query that anyone typed
        return OtherWords(total)
    published = profiles_held(assignment, own, len(release)) @ _in_queries(release, own)
    return OtherWords(total, int(csr_array(own.counts).minimum(csr_array(published)).sum()))


@dataclass(frozen=True)
class _Unknown:
    """The tokens that a dictionary does not know."""

    dictionary: Dictionary

    def __call__(self, token: str) -> str | None:
        return token if self.dictionary(token) is None else None


def _in_queries(release: Release, words: Profiles) -> csr_array:
    """Pseudonyms x words: how often each stands in the released queries."""
    queries = release.queries
    assert queries is not None
    tokens = tokenize_column(queries.query)
    number = {word: i for i, word in enumerate(words.terms)}
    column = np.array([number.get(token, -1) for token in tokens.vocabulary], dtype=np.int64)[tokens.ids]
    query = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))[column >= 0]
    places = (queries.pseudonym[query], column[column >= 0])
    return csr_array((queries.count[query], places), shape=(len(release), len(words.terms)))


def bLM(standing: Standing, taxonomy: Taxonomy) -> float:
    """The mean loss over all term occurrences (Liu & Wang, V-A).

    Each label of a profile stands for a bag: the occurrences of all its users that it generalizes, or that it replaces
    as their typical term. An occurrence in a bag of n distinct terms loses LM = (n - 1) / (leaves - 1).
    """
    terms = int(standing.term.max(initial=0)) + 1
    entry = np.unique(standing.entry * terms + standing.term) // terms  # a number per pair: tables sort far slower
    distinct = np.bincount(entry, minlength=int(standing.entry.max(initial=-1)) + 1)
    LM = (distinct - 1) / max(1, int(taxonomy.leaves[0]) - 1)
    return standing.lost(LM[standing.entry], replaced_too=True) / max(1.0, standing.occurrences)


def ncp(standing: Standing, release: Release, taxonomy: Taxonomy, others: OtherWords) -> float:
    """The mean over all words of all queries: 0 released as it is, |u_t| / |I| under a label of |u_t| leaves, 1 not.

    |I| are the leaves of the taxonomy. T of Equation 7 counts words that cannot be generalized, too.
    """
    leaves = leaves_of(release, taxonomy)
    penalty = np.where(leaves == 1, 0.0, leaves / int(taxonomy.leaves[0]))
    lost = standing.lost(penalty[standing.label]) + others.occurrences - others.released
    return lost / max(1.0, standing.occurrences + others.occurrences)


def distortion(standing: Standing, release: Release, taxonomy: Taxonomy) -> float:
    """GGD of a release, over all users of the log; a user without a profile loses everything.

    An occurrence under a generalized label x costs LM(x). A centroid's weight w is w occurrences of each member.
    """
    LM = (leaves_of(release, taxonomy) - 1) / max(1, int(taxonomy.leaves[0]) - 1)
    return standing.lost(LM[standing.label])


def _ggd(measured: MeasuredRelease) -> float:
    return distortion(measured.standing, measured.release, measured.knowledge.taxonomy)


def _ggd_per_occurrence(measured: MeasuredRelease) -> float | None:
    return measured.once(_ggd) / measured.standing.occurrences if measured.standing.occurrences else None


def _blm(measured: MeasuredRelease) -> float | None:
    return bLM(measured.standing, measured.knowledge.taxonomy) if measured.standing.occurrences else None


def _ncp(measured: MeasuredRelease) -> float | None:
    others = other_words(measured.release, measured.assignment, measured.log, measured.knowledge)
    if not measured.standing.occurrences + others.occurrences:
        return None
    return ncp(measured.standing, measured.release, measured.knowledge.taxonomy, others)


def _suppressed(measured: MeasuredRelease) -> float | None:
    return None if measured.suppressed is None else float(measured.suppressed.occurrences)


blurred = ReleaseMeasure(
    name="bLM",
    title="bLM",
    says="How much each published term blurs; 0 is nothing, 1 is everything.",
    formula="mean over term occurrences of (n - 1) / (leaves - 1), where n are the distinct terms that the published "
    "label stands for, those it replaces within the release's epsilon (4 where it has none) too; a suppressed "
    "occurrence costs 1",
    heading="utility",
    better="lower",
    low=0,
    high=1,
    paper="Liu & Wang 2010, V-A",
    main=True,
    compute=_blm,
)
certainty = ReleaseMeasure(
    name="ncp",
    title="NCP",
    says="How uncertain what is published of the words of all queries is; 0 is certain, 1 is suppressed.",
    formula="mean over all words of all queries, known to the dictionary or not, of 0 where released as it is, leaves "
    "of the label / leaves of the taxonomy where generalized, 1 where suppressed",
    heading="utility",
    better="lower",
    low=0,
    high=1,
    paper="Carpineto & Romano 2014, Eq. 6 and 7",
    main=True,
    compute=_ncp,
)
ggd = ReleaseMeasure(
    name="ggd",
    title="Distortion (GGD)",
    says="How much information all users together lost, in occurrences of terms.",
    formula="sum over term occurrences of (leaves of the label - 1) / (leaves of the taxonomy - 1); a suppressed "
    "occurrence costs 1",
    heading="utility",
    better="lower",
    low=0,
    unit="count",
    paper=_THESIS,
    main=True,
    compute=lambda measured: measured.once(_ggd),
)
suppressed = ReleaseMeasure(
    name="suppressed",
    title="Suppressed",
    says="Occurrences of terms (queries, for the query methods) that were left out.",
    formula="what the method says it left out",
    heading="utility",
    better="lower",
    low=0,
    unit="count",
    main=True,
    compute=_suppressed,
)
ggd_per_occurrence = ReleaseMeasure(
    name="ggd_per_occurrence",
    title="Distortion per occurrence",
    says="How much information an occurrence of a term lost, in the mean.",
    formula="GGD / term occurrences of all users",
    heading="utility",
    better="lower",
    low=0,
    high=1,
    paper=_THESIS,
    compute=_ggd_per_occurrence,
)
