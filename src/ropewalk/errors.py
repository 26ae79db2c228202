"""Every error a user can meet, under one base. The class decides the exit code; the text is one sentence.

A text names the thing, what was found, what was allowed, and what to do next.
"""


class RopewalkError(Exception):
    """Anything Ropewalk refuses or fails to do, said in one sentence."""

    exit_code = 4


class UsageError(RopewalkError):
    """The request itself makes no sense: an unknown name, a size below one, a folder that is taken."""

    exit_code = 2


class InputError(RopewalkError):
    """What was to be read is missing or malformed."""

    exit_code = 3


class RunError(RopewalkError):
    """The request and its input were fine, but carrying it out failed."""

    exit_code = 4
