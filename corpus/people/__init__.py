"""Whose queries are these? Simulated users calibrated to a real log, and people who rated films."""
