"""How is an experiment run? Settings as cells, on all cores, kept for the next run."""
