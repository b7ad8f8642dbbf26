"""The one error that a rehearsal shows to its user."""


class RehearsalError(Exception):  # noqa: N818 - it is what the user reads: "refused: ..."
    """What is wrong, where, and what to do about it; shown without a traceback."""
