"""How is an API fuzzed? A few requests of every operation, made up from its description."""

from collections.abc import Callable

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.schemas import APIOperation

EXAMPLES = 12


def try_out(operation: APIOperation, ask: Callable[[schemathesis.Case], None]) -> None:
    """Make up requests of one operation, and ask each."""

    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def made_up(case: schemathesis.Case) -> None:
        ask(case)

    made_up()
