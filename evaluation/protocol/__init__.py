"""What is the same for every method? The split of the log, the test queries, what is relevant, and the metrics."""
