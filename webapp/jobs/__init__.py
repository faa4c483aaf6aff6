"""How does long work run beside the server? Each job in a process of its own, with its state in the database."""
