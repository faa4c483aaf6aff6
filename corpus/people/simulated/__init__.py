"""How do simulated users come about? Topics of a corpus, people with interests, and the queries they type."""

from shoal.corpus.people.simulated.log import SimulatedLog, default_log, simulate_log, write_log

__all__ = ["SimulatedLog", "default_log", "simulate_log", "write_log"]
