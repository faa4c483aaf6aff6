"""What does a claim say, to the letter? Slow definitions that try all ways, for small logs; no verifier uses them."""
