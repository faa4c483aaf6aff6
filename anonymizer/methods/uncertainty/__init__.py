"""Uncertainty: how are terms suppressed or generalized, so that no set of them tells a sensitive one (rho-uncertainty)?

J. Cao, P. Karras, C. Raissi & K.-L. Tan, rho-uncertainty: Inference-Proof Transaction Anonymization, VLDB 2010; thesis
of A. Milani Fard, 2010, section 2.8.
"""

from fractions import Fraction

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.methods.uncertainty.rules import (
    MOST_CLOSED_SETS,
    Bound,
    generalize_top_down,
    publish_items,
    suppress_control,
)
from shoal.anonymizer.parameters import Parameter, number, one_of, whole_number
from shoal.anonymizer.publish import publish_own_sets
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Uncertainty(ProfileMethod):
    """Guarantee: no few terms of a row, public or sensitive, tell another sensitive one with a confidence above rho.

    SuppressControl looks at rules by the size of their antecedent. Of all rules of one size that are too sure, it
    suppresses the term that is in most of them per occurrence lost, of everybody who typed it, until none is left; what
    is left keeps its support, so that no new rule comes of it. TDControl begins with all public terms at the root of
    the taxonomy, and splits the node that loses most into its children, again and again. SuppressControl makes every
    state safe; a split that costs more than it gains (NCP, all of it where suppressed) is not done.

    A user's terms are a set, and each is published once. A rule of any size is at its surest where antecedent and
    consequent together are a closed set (all that some users have in common), so that `any` looks at those alone; a
    log with more than MOST_CLOSED_SETS of them is refused.
    """

    info = MethodInfo(
        id="uncertainty",
        title="Terms suppressed or generalized until no rule is sure",
        paper=(
            "J. Cao, P. Karras, C. Raissi & K.-L. Tan (2010), rho-uncertainty: Inference-Proof Transaction "
            "Anonymization, VLDB"
        ),
        unit="user",
        family="suppress",
        protects=(
            "Which sensitive terms a person typed: whoever knows some other terms of theirs, as many as were looked "
            "at, infers none with a confidence above rho."
        ),
        does_not_protect=(
            "Who is behind a row: a few public terms may be in one row alone, and whoever knows more terms than were "
            "looked at may read a sensitive one there."
        ),
        sensitive=True,
        cluster="a term is suppressed of all who typed it or of nobody, and blocks would suppress different ones",
    )
    rho = Parameter(0.7, number(0, 1), "the largest confidence with which terms tell a sensitive one", "lower")
    antecedent = Parameter(
        2,
        whole_number(1, 3) | one_of("any"),
        f"how many terms of a person are known; any is exact, for logs of up to {MOST_CLOSED_SETS:,} closed sets",
        "higher",
    )
    how = Parameter(
        "suppress",
        one_of("suppress", "generalize"),
        "suppress terms (SuppressControl), or generalize public ones as well (TDControl)",
        "neither",
    )

    def claim(self) -> Claim:
        values = {"rho": self.rho, "antecedent": self.antecedent}
        return Claim("uncertainty", {**values, "published": "terms" if self.how == "suppress" else "cut"})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        rho = Fraction(str(self.rho))
        bound = Bound(rho.numerator, rho.denominator, 0 if isinstance(self.antecedent, str) else self.antecedent)
        private = self.knowledge.sensitive.among(profiles.terms)
        if self.how == "suppress":
            gone = suppress_control(profiles.counts.sign(), private, bound, progress)
            return publish_own_sets(profiles, ~gone, self.claim())
        taxonomy = self.knowledge.taxonomy
        item = generalize_top_down(profiles, private, taxonomy, bound, progress)
        return publish_items(profiles, item, taxonomy, self.claim())
