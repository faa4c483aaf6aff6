"""What is what is published still good for? Losses and sizes, by code that shares nothing with the methods."""
