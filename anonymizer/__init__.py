"""How are profiles made anonymous, and what does each way promise?"""
