"""The shell, SQL and C++ blocks of the Markdown pages, and how each of them is tested."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

SHELL_LANGUAGES = {"bash", "console", "sh", "shell", "shell-session", "zsh"}
CLASSES = {
    "sh": ("quick", "all", "covered", "none"),
    "sql": ("server", "none"),
    "cpp": ("program", "none"),
}
"""Languages whose blocks are tested, and how they can be."""

NAMING = {"covered": "steps", "server": "a store", "program": "a store"}
"""Classes that are followed by a colon and names."""

HOW_TO = "docs/contributing.md, section `Commands in the documentation`, explains the classes"

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^ *(?P=fence)`* *$",
    re.M | re.S,
)


class BlockError(Exception):
    """A block is not classed, or wrongly; the message says where and what to do."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page; names are the steps that cover it, or its store."""

    page: Path
    line: int
    kind: str
    names: tuple[str, ...]
    commands: str

    @property
    def where(self) -> str:
        """Page and line of the opening fence."""
        return f"{self.page}:{self.line}"


def _fields(info: str, where: str) -> dict[str, str]:
    try:
        words = shlex.split(info)[1:]
    except ValueError as error:
        raise BlockError(f"{where}: `{info}`: {error}; {HOW_TO}") from error
    return dict(word.partition("=")[::2] for word in words)


def _classed(page: Path, line: int, info: str, body: str) -> Block:
    where = f"{page}:{line}"
    language = info.split()[0]
    if language not in CLASSES:
        raise BlockError(f"{where}: write shell blocks as ```sh, not ```{language}")
    fields = _fields(info, where)
    kind, _, names = fields.pop("test", "").partition(":")
    reason = fields.pop("reason", "")
    if kind not in CLASSES[language]:
        raise BlockError(
            f"{where}: say how the block is tested: test={'|'.join(CLASSES[language])}; {HOW_TO}"
        )
    if fields:
        raise BlockError(f"{where}: unknown {sorted(fields)}; {HOW_TO}")
    if (kind == "none") != bool(reason):
        raise BlockError(f'{where}: test=none, and only it, has a reason="..."; {HOW_TO}')
    if kind in NAMING and not names:
        raise BlockError(f"{where}: name {NAMING[kind]}, test={kind}:NAME; {HOW_TO}")
    if names and kind not in NAMING:
        raise BlockError(f"{where}: test={kind} names nothing, not even {names}; {HOW_TO}")
    return Block(page, line, kind, tuple(names.split(",")) if names else (), body)


def blocks_of_page(page: Path, text: str) -> list[Block]:
    """All shell, SQL and C++ blocks of a page; raises BlockError for one that is not classed."""
    blocks = []
    for match in _FENCE.finditer(text):
        info = match["info"].strip()
        if not info or info.split()[0] not in SHELL_LANGUAGES | set(CLASSES):
            continue
        line = text.count("\n", 0, match.start()) + 1
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.M)
        blocks.append(_classed(page, line, info, body))
    return blocks


def command_lines(block: Block) -> list[str]:
    """The block's commands without comments and blank lines, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", block.commands)
    bare = (re.sub(r"(^|\s+)#.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in bare if line]
