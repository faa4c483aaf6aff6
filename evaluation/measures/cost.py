"""What does making a release take? Seconds and memory, which differ from run to run."""

from shoal.evaluation.measures.base import CostMeasure

seconds = CostMeasure(
    name="seconds",
    title="Seconds",
    says="Time to make the release.",
    formula="wall time of the method alone, loaded and compiled before",
    better="lower",
    low=0,
    unit="seconds",
    main=True,
    headline=True,
    compute=lambda cost: cost.seconds,
)
peak_mb = CostMeasure(
    name="peak_mb",
    title="Peak memory, MB",
    says="Most memory that the process held while it made the release.",
    formula="largest resident memory of the process while the method runs, in megabytes",
    better="lower",
    low=0,
    unit="megabytes",
    main=True,
    compute=lambda cost: cost.peak_mb,
)
