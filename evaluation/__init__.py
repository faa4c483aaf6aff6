"""What does each method cost and protect, measured one way for all?"""
