"""How is an API fuzzed? A few requests of every operation, made up from its document; `SHOAL_FUZZ=300` asks for more.

With `SHOAL_FUZZ` the operator's API is fuzzed on PostgreSQL too, each with and without a log-in.
"""

import os
from collections.abc import Callable

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.schemas import APIOperation

ASKED = int(os.environ.get("SHOAL_FUZZ") or 0)
EXAMPLES = ASKED or 12


def try_out(operation: APIOperation, ask: Callable[[schemathesis.Case], None], examples: int = EXAMPLES) -> None:
    """Make up requests of one operation, and ask each."""

    @given(case=operation.as_strategy())
    @settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def made_up(case: schemathesis.Case) -> None:
        ask(case)

    made_up()
