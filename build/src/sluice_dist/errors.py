"""The one error that commands raise for what a person can put right."""


class DistError(Exception):
    """Something that the caller can fix: what went wrong, and what to do next."""

    def __init__(self, message: str, advice: str = ""):
        super().__init__(message)
        self.advice = advice

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n  what to do: {self.advice}" if self.advice else message
