"""What is the data? Documents, query logs, profiles, data sets, WordNet, taxonomies, simulated users."""
