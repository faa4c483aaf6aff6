"""What does an attacker learn of a person? Terms that were not known, guessed from the profile that was picked."""

from shoal.evaluation.attacks.inference import GUESSES, inference
from shoal.evaluation.attacks.victims import KNOWN
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.release import MeasuredRelease


def _inference(measured: MeasuredRelease, m: int) -> float | None:
    if not len(measured.victims):
        return None
    return inference(measured.view, measured.victims, measured.known(m), measured.linked(m))


inferred = ReleaseMeasure(
    name="inference",
    title="Inferred from {m} terms",
    says=f"How many of {GUESSES} further terms of a person an attacker guesses who knows {{m}}, beyond what all know.",
    formula=f"precision of naming the {GUESSES} unknown terms that are likeliest in the profile that linkage@{{m}} "
    f"picks, minus that of naming the {GUESSES} commonest of the release; never below 0",
    heading="inference",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper="Zhu & Xiong 2010, Eq. 1 to 3",
    at=KNOWN,
    main=(CHOSEN,),
    headline=(CHOSEN,),
    compute=_inference,
)
