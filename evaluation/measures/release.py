"""What does a release cost and protect? Every measure that needs no search, for any release, by the same code."""

from dataclasses import asdict

import numpy as np

from shoal.anonymizer.base import Assignment, Claim, Release
from shoal.anonymizer.claims.linkability import actual_linkability
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.attackers import attackers
from shoal.evaluation.attacks.fit import fit
from shoal.evaluation.attacks.inference import inference
from shoal.evaluation.attacks.linkage import link
from shoal.evaluation.attacks.query_linkage import query_linkage, rare_term_share
from shoal.evaluation.attacks.uniqueness import uniqueness
from shoal.evaluation.attacks.victims import KNOWN, Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.blm import bLM
from shoal.evaluation.measures.distortion import distortion
from shoal.evaluation.measures.fate import stand
from shoal.evaluation.measures.length_level import mean_length, mean_level
from shoal.evaluation.measures.ncp import ncp
from shoal.evaluation.measures.patterns import pattern_utility
from shoal.evaluation.measures.released import released_distinct, released_occurrences
from shoal.evaluation.measures.srp import srp

CHOSEN = 5  # known terms, where a measure is given for one number of them
Measured = dict[str, float]


def measure_release(
    release: Release,
    assignment: Assignment,
    log: QueryLog,
    knowledge: Knowledge,
    *,
    seed: int = 0,
    victims: int = 1000,
    claim: Claim | None = None,
    test_log: QueryLog | None = None,
    progress: Progress = silent,
) -> Measured:
    """All measures by the names of the columns of results.csv. One that does not apply is absent.

    `claim` is what the release promises, for the measures that compare with it; `test_log` holds what the same users
    asked later, for the attacker who saw it.
    """
    profiles = build_profiles(log, knowledge.words)
    chosen = choose_victims(profiles, victims, seed)
    measured = _attacked(release, assignment, chosen, knowledge, progress)
    if test_log is not None:
        later = build_profiles(test_log, knowledge.words)
        fitted = fit(PublishedView(release, knowledge), assignment, chosen, later)
        measured |= {} if fitted is None else {"linkage_test": fitted}
    measured |= _crowds(release, assignment, profiles)
    measured |= _utility(release, assignment, profiles, knowledge, progress)
    if release.queries is not None:
        measured |= _released(release, assignment, log, claim, victims, seed)
    if claim is not None and claim.id == "p-linkability":
        actual = actual_linkability(profiles, assignment)
        measured |= {"linking_mean": actual.mean, "linking_max": actual.largest, "shared_max": actual.largest_share}
    return measured


def _attacked(
    release: Release, assignment: Assignment, victims: Victims, knowledge: Knowledge, progress: Progress
) -> Measured:
    """linkage@m, inference@m and uniqueness@m, and the three attackers."""
    view = PublishedView(release, knowledge)
    measured = {}
    for m in KNOWN if len(victims) else ():
        known = victims.known(m)
        linked = link(view, assignment, victims, known, progress=progress)
        measured[f"linkage{m}"] = float(linked.success.mean())
        measured[f"inference{m}"] = inference(view, victims, known, linked)
        measured[f"uniqueness{m}"] = uniqueness(view, victims, known)
        if m == CHOSEN:
            measured |= asdict(attackers(linked, victims, assignment, len(release)))
    return measured


def _crowds(release: Release, assignment: Assignment, profiles: Profiles) -> Measured:
    """How many users share a profile, how many are alone with theirs, and how many have none."""
    without = len(profiles) - len(np.unique(assignment.user))
    if len(release) == 0:
        return {"users_with_nothing": float(without)}
    alone = np.unique(assignment.user[release.users[assignment.profile] == 1])
    return {
        "anonymity_min": float(release.users.min()),
        "anonymity_median": float(np.median(release.users)),
        "anonymity_mean": float(release.users.mean()),
        "alone": float(len(alone)),
        "users_with_nothing": float(without),
    }


def _utility(
    release: Release, assignment: Assignment, profiles: Profiles, knowledge: Knowledge, progress: Progress
) -> Measured:
    """What is lost of the profiles, and what is left."""
    tree = knowledge.taxonomy
    standing = stand(release, assignment, profiles, knowledge, progress)
    ggd = distortion(standing, release, tree)
    measured = {"ggd": ggd}
    if standing.occurrences:
        measured |= {
            "ggd_per_occurrence": ggd / standing.occurrences,
            "bLM": bLM(standing, tree),
            "ncp": ncp(standing, release, tree),
        }
    progress(0, 2, "looking for patterns")
    if (patterns := pattern_utility(profiles, release, tree)) is not None:
        measured |= asdict(patterns)
    if len(release):
        measured["length"] = mean_length(release)
    if (level := mean_level(release, tree)) is not None:
        measured["level"] = level
    progress(1, 2, "comparing topics")
    if len(release) and not release.generalized.any():
        shares = srp(release, assignment, profiles, knowledge)
        measured |= {f"srp{level}": share for level, share in enumerate(shares, start=1)}
    return measured


def _released(
    release: Release, assignment: Assignment, log: QueryLog, claim: Claim | None, victims: int, seed: int
) -> Measured:
    """What only releases of queries have. Concepts in the place of queries are no words that an attacker could know."""
    measured = {"released_occurrences": released_occurrences(release, log)}
    if release.generalized.any():
        return measured
    measured["released_distinct"] = released_distinct(release, log)
    measured[f"query_linkage{CHOSEN}"] = query_linkage(release, assignment, log, victims, CHOSEN, seed)
    k = claim.values.get("k") if claim is not None else None
    if isinstance(k, int) and (rare := rare_term_share(release, log, k)) is not None:
        measured["rare_term_share"] = rare
    return measured
