"""The error that users of the command line are meant to see."""


class EvaluationError(Exception):
    """Something the caller can put right; the message says what to do next."""
