"""What does a searcher see? A module for each address."""
