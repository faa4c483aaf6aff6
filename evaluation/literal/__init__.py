"""How would one do it slowly, to the letter? References from the papers' pseudo-code, for tests and benchmarks."""
