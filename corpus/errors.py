"""What goes wrong because of what was given? One error type for the command line and the web."""


class InputError(Exception):
    """Bad input. The message says, on one line, what was given, what was expected and what to do."""


class NotFound(InputError):
    """What was asked for is not there, or not for who asks."""


class Gone(NotFound):
    """What was asked for was there, was taken back, and does not come again."""


class Refused(InputError):
    """What was asked for is understood and possible, and will not be done."""


class Conflict(InputError):
    """What was asked for does not fit the state that things are in; after something else it may."""


class Unavailable(InputError):
    """What was asked for cannot be had just now, and who asks can do nothing about it."""


class Cancelled(Exception):
    """Raised by a progress callback to stop a long run."""
