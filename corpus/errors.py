"""What goes wrong because of what was given? One error type for the command line and the web."""


class InputError(Exception):
    """Bad input. The message says, on one line, what was given, what was expected and what to do."""


class Cancelled(Exception):
    """Raised by a progress callback to stop a long run."""
