"""Which pages does a searcher see?"""
