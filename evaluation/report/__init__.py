"""What does an experiment leave to be read? A page, a text, a table for LaTeX, and pictures, from one description."""
