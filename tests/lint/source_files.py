"""The files of the project: what git tracks or would track."""

import re
import subprocess
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


@cache
def source_files() -> tuple[Path, ...]:
    """Paths of all files below the checkout that git does not ignore, relative to it."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = {Path(name) for name in listing.split("\0") if name}
    return tuple(sorted(path for path in paths if (TOP / path).is_file()))


@cache
def text_of(path: Path) -> str | None:
    """Contents of a source file, or None when it is not text in UTF-8."""
    try:
        text = (TOP / path).read_bytes().decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def has_suffix(*suffixes: str) -> list[Path]:
    """Source files whose names end in one of the suffixes."""
    return [path for path in source_files() if path.suffix in suffixes]


def interpreted_by(shells: str) -> list[Path]:
    """Source files whose first line names an interpreter that matches the expression."""
    first = re.compile(rf"#!\s*\S*(?:/|env\s+(?:-\S+\s+)*)(?:{shells})\b")
    return [path for path in source_files() if first.match(text_of(path) or "")]
