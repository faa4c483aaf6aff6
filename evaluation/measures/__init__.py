"""What is measured of a release? Losses and sizes, by code that shares nothing with the methods."""
