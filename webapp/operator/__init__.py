"""What does an operator see and do? The panel at /admin: a module for each address."""
