"""Coherence: which public terms are suppressed, so that few of them point to few users or to a sensitive term?

Y. Xu, K. Wang, A. W.-C. Fu & P. S. Yu, Anonymizing Transaction Databases for Publication, KDD 2008; thesis of A. Milani
Fard, 2010, section 2.3, Algorithm 2.1.
"""

from fractions import Fraction

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.distinct_queries import only_columns
from shoal.anonymizer.methods.coherence.moles import Limits, size_one_moles, wider_moles
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter, number, whole_number
from shoal.anonymizer.publish import publish_own_sets
from shoal.anonymizer.term_sets import suppress_greedily
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Coherence(ProfileMethod):
    """Guarantee: any p public terms of a row are in at least k rows, and a share of h of these at most shares a secret.

    A user's terms are a set, and each is published once: how often it was typed would tell more than the p terms that
    the promise counts. A public term is suppressed of all who typed it, or of nobody, so that every number of rows
    that hold some published terms is that of the log. Sensitive terms are published as they were typed.
    """

    info = MethodInfo(
        id="coherence",
        title="Public terms suppressed until no few of them tell",
        paper="Y. Xu, K. Wang, A. W.-C. Fu & P. S. Yu (2008), Anonymizing Transaction Databases for Publication, KDD",
        unit="user",
        family="suppress",
        protects=(
            "Which row and which sensitive terms are a person's: p public terms of a person point to at least k rows, "
            "of which a share of h at most has a sensitive term in common."
        ),
        does_not_protect=(
            "Against whoever knows more than p public terms of a person, or a sensitive one, or that a term is *not* "
            "among them; and a sensitive term that more than a share of h of all users typed is known of everybody."
        ),
        sensitive=True,
        cluster="a term is suppressed of all who typed it or of nobody, and blocks would suppress different ones",
    )
    k = Parameter(5, AT_LEAST_TWO, "the fewest rows that any p public terms of a row are in", "higher")
    h = Parameter(0.8, number(0, 1), "the largest share of those rows with a sensitive term in common", "lower")
    p = Parameter(2, whole_number(1, 4), "how many public terms of a person an attacker knows", "higher")

    def claim(self) -> Claim:
        return Claim("coherence", {"h": self.h, "k": self.k, "p": self.p})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        sets = profiles.counts.sign()
        private = self.knowledge.sensitive.among(profiles.terms)
        left = ~private & (np.bincount(sets.indices, minlength=len(private)) > 0)
        sensitive, h = only_columns(sets, private), Fraction(str(self.h))
        limits = Limits(self.k, h.numerator, h.denominator)
        left &= ~size_one_moles(only_columns(sets, left), sensitive, limits, progress)
        public = only_columns(sets, left)
        moles = wider_moles(public, sensitive, limits, self.p, progress)
        left[suppress_greedily(moles, np.bincount(public.indices, minlength=len(private)), progress)] = False
        return publish_own_sets(profiles, left | private, self.claim())
