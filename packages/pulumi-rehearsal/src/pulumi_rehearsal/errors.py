"""The error that a rehearsal shows to its user."""


class RehearsalError(Exception):
    """The rehearsal cannot start or go on: what is wrong, where, and what to change.

    The command lines print it without a traceback, as "refused: ...".
    """
