"""Do a few terms single a profile out? The share of victims whose known terms fit one published profile only."""

import numpy as np
from scipy.sparse import csr_array

from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView

_BLOCK = 256  # victims at a time


def uniqueness(view: PublishedView, victims: Victims, known: csr_array) -> np.ndarray:
    """Of each victim, 1 where so. A profile fits if something in it stands for each known term."""
    unique = np.zeros(len(victims))
    if len(view.release) == 0:
        return unique
    told = view.over_atoms(known, victims.profiles.terms)
    holds = csr_array(view.profiles.T)
    holds.data = (holds.data > 0).astype(float)
    wanted = np.asarray(known.sum(axis=1)).ravel()
    for low in range(0, len(victims), _BLOCK):
        rows = slice(low, min(low + _BLOCK, len(victims)))
        fits = (told[rows] @ holds).toarray() == wanted[rows, None]
        unique[rows] = fits.sum(axis=1) == 1
    return unique
