"""Reads a patch of a series: a mail as `git format-patch` writes it."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from functools import cached_property
from pathlib import Path

_DIFF_START = re.compile(r"^(?:---$|diff --git )", re.MULTILINE)
_FIELD = re.compile(r"^([A-Z][A-Za-z-]*):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Author:
    """Who a patch is from."""

    name: str
    email: str


@dataclass(frozen=True)
class PatchFile:
    """One patch: its title, the paragraphs of its message, its fields and its changed lines."""

    path: Path

    @cached_property
    def _mail(self):
        return message_from_bytes(self.path.read_bytes(), policy=policy.default)

    @cached_property
    def _text(self) -> str:
        return self._mail.get_content() if self._mail.get_content_type() == "text/plain" else ""

    @property
    def author(self) -> Author:
        """Author as in the header From; empty if there is none."""
        addresses = self._mail["From"].addresses if self._mail["From"] else ()
        return (
            Author(addresses[0].display_name, addresses[0].addr_spec)
            if addresses
            else Author("", "")
        )

    @property
    def title(self) -> str:
        """Subject without the prefix [PATCH]."""
        subject = " ".join(str(self._mail["Subject"] or "").split())
        return subject.removeprefix("[PATCH]").strip()

    @property
    def message(self) -> str:
        """Text between the header and the diff."""
        start = _DIFF_START.search(self._text)
        return self._text[: start.start() if start else None].strip("\n")

    @property
    def paragraphs(self) -> list[str]:
        """Paragraphs of the message."""
        return [text for text in re.split(r"\n\s*\n", self.message) if text.strip()]

    @property
    def fields(self) -> dict[str, str]:
        """DEP-3 fields: those of the last paragraph, if it holds nothing else."""
        last = self.paragraphs[-1] if self.paragraphs else ""
        if _FIELD.sub("", last).strip():
            return {}
        return {name: " ".join(value.split()) for name, value in _FIELD.findall(last)}

    @cached_property
    def changed_lines(self) -> list[str]:
        """Lines that the diff adds or removes, each with its + or -."""
        lines = []
        left = right = 0
        for line in self.path.read_text(errors="surrogateescape").split("\n"):
            if hunk := re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line):
                left, right = (int(count) if count else 1 for count in hunk.groups())
            elif left > 0 or right > 0:
                left -= line[:1] in ("-", " ", "")
                right -= line[:1] in ("+", " ", "")
                if line[:1] in ("+", "-"):
                    lines.append(line)
        return lines
