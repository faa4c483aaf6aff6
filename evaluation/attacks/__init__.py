"""What can an attacker learn from what is published? Attacks that see a release and a few terms of a victim."""
