"""Which documents answer a query, and how does a profile reorder them?"""
