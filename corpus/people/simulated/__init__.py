"""How do simulated users come about? Topics of a corpus, people with interests, and the queries they type."""

from shoal.corpus.people.simulated.log import SimulatedLog, simulate_log, write_log

__all__ = ["SimulatedLog", "simulate_log", "write_log"]
