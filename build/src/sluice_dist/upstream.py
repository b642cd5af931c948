"""upstream.toml: which source a series applies to, and where it may come from."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_dist.errors import DistError

MAXIMUM_CHANGED_LINES = 120

_TEXT_KEYS = ("name", "version", "licence", "archive", "sha256")
_OPTIONAL_KEYS = ("maximum_changed_lines", "root")


@dataclass(frozen=True)
class Upstream:
    """A pinned upstream source.

    `root` is the folder inside the archive that holds the source; by default the only one.
    """

    name: str
    version: str
    licence: str
    archive: str
    sha256: str
    sources: tuple[dict[str, Any], ...]
    maximum_changed_lines: int = MAXIMUM_CHANGED_LINES
    root: str = ""

    @classmethod
    def load(cls, file: Path) -> "Upstream":
        """Read FILE; raises DistError with every fault found in it."""
        try:
            content = tomllib.loads(file.read_text())
        except FileNotFoundError:
            raise DistError(f"{file} is missing", "write it; see docs/sluice-dist.md") from None
        except tomllib.TOMLDecodeError as error:
            raise DistError(f"{file} is not TOML: {error}", "correct that line") from None
        faults = upstream_faults(content)
        if faults:
            raise DistError(f"{file}: " + "; ".join(faults), "see docs/sluice-dist.md")
        values = {key: content[key] for key in (*_TEXT_KEYS, *_OPTIONAL_KEYS) if key in content}
        return cls(**values, sources=tuple(content["source"]))


def upstream_faults(content: dict[str, Any]) -> list[str]:
    """Say what is wrong with the content of an upstream.toml; nothing if all is well."""
    faults = [f"'{key}' is missing or no text" for key in _TEXT_KEYS if not _is_text(content, key)]
    unknown = set(content) - {*_TEXT_KEYS, *_OPTIONAL_KEYS, "source"}
    faults += [f"'{key}' is not a known key" for key in sorted(unknown)]
    if not re.fullmatch("[0-9a-f]{64}", str(content.get("sha256", ""))):
        faults.append("'sha256' has to be 64 lower-case hexadecimal digits")
    if "/" in str(content.get("archive", "")):
        faults.append("'archive' has to be a plain file name")
    limit = content.get("maximum_changed_lines", MAXIMUM_CHANGED_LINES)
    if type(limit) is not int or not 0 <= limit <= MAXIMUM_CHANGED_LINES:
        faults.append(f"'maximum_changed_lines' can only lower the bound {MAXIMUM_CHANGED_LINES}")
    sources = content.get("source")
    if not isinstance(sources, list) or not sources:
        return [*faults, "there is no [[source]]"]
    return faults + [f"[[source]] {n} has no 'kind'" for n in _without_kind(sources)]


def _is_text(content: dict[str, Any], key: str) -> bool:
    return isinstance(content.get(key), str) and bool(content[key])


def _without_kind(sources: list[dict[str, Any]]) -> list[int]:
    return [n for n, source in enumerate(sources, 1) if not _is_text(source, "kind")]
