"""What does a release cost and protect? Every measure that needs no search, for any release, by the same code."""

import numpy as np

from anonymizer.base import Assignment, Release
from corpus.knowledge import Knowledge
from corpus.profiles import build_profiles
from corpus.progress import Progress, silent
from corpus.querylog import QueryLog
from evaluation.attacks.inference import inference
from evaluation.attacks.linkage import link
from evaluation.attacks.victims import KNOWN, Victims, choose_victims
from evaluation.attacks.view import PublishedView
from evaluation.utility.distortion import distortion

INFERENCE_KNOWN = 5


def measure_release(
    release: Release,
    assignment: Assignment,
    log: QueryLog,
    knowledge: Knowledge,
    *,
    seed: int = 0,
    victims: int = 1000,
    progress: Progress = silent,
) -> dict[str, float]:
    """All measures by the names of the columns of results.csv. One that does not apply is absent."""
    profiles = build_profiles(log, knowledge.words)
    measured = _attacks(release, assignment, choose_victims(profiles, victims, seed), knowledge, progress)
    if len(release):
        measured["anonymity_min"] = float(release.users.min())
        measured["anonymity_median"] = float(np.median(release.users))
    progress(1, 1, "measuring what is left")
    measured["ggd"] = distortion(release, assignment, profiles, knowledge)
    return measured


def _attacks(
    release: Release, assignment: Assignment, victims: Victims, knowledge: Knowledge, progress: Progress
) -> dict[str, float]:
    view = PublishedView(release, knowledge)
    measured = {}
    for step, m in enumerate(KNOWN):
        progress(step, len(KNOWN), "attacking")
        known = victims.known(m)
        linked = link(view, assignment, victims, known)
        measured[f"linkage{m}"] = float(linked.success.mean())
        if m == INFERENCE_KNOWN:
            measured[f"inference{m}"] = inference(view, victims, known, linked)
    return measured
