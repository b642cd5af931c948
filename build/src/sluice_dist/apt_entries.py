"""Reads which Debian archives apt on this machine is configured with, and how it reaches them."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Said of an archive, and needed to reach or to trust it; the rest is about binary packages.
ACCESS_OPTIONS = ("signed-by", "trusted", "check-valid-until", "check-date", "allow-insecure")
SUITE_NAMES = {"stable", "testing", "unstable", "oldstable", "oldoldstable", "experimental"}
SUITE_NAMES |= {"bullseye", "bookworm", "trixie", "forky", "duke", "sid"}
_SUITE = re.compile(r"(?P<name>[a-z]+)(?P<suffix>(-[a-z-]+|/updates)?)")


@dataclass(frozen=True)
class Archive:
    """A Debian archive: where it is, the suites in use here, and the options to reach it."""

    uri: str
    suites: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = field(default=())

    def suffixes(self) -> list[str]:
        """Endings of the suites in use: "" of bookworm, "-security" of bookworm-security."""
        return sorted({_SUITE.fullmatch(suite)["suffix"] for suite in self.suites})


def machine_archives() -> list[Archive]:
    """Debian archives with component `main` of the machine's source lists; none without apt."""
    try:
        command = ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f"]
        command += ["PARTS", "Dir::Etc::sourceparts/d"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return []
    paths = dict(assignment.split("=", 1) for assignment in shlex.split(answer))
    parts = Path(paths["PARTS"])
    files = [Path(paths["LIST"]), *sorted([*parts.glob("*.list"), *parts.glob("*.sources")])]
    return archives_in([file for file in files if file.is_file()])


def archives_in(files: list[Path]) -> list[Archive]:
    """Debian archives of FILES, in order; entries of one archive are taken together."""
    suites: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for file in files:
        read = _deb822_entries if file.suffix == ".sources" else _one_line_entries
        for uri, suite, components, options in read(file.read_text()):
            if "main" in components and _is_debian(suite):
                suites.setdefault((uri.rstrip("/"), options), []).append(suite)
    return [
        Archive(uri, tuple(dict.fromkeys(names)), options)
        for (uri, options), names in suites.items()
    ]


Entry = tuple[str, str, list[str], tuple[tuple[str, str], ...]]


def _is_debian(suite: str) -> bool:
    """Tell by the suite's name; that its Release file says so too is seen when it is read."""
    parts = _SUITE.fullmatch(suite)
    return bool(parts) and parts["name"] in SUITE_NAMES


def _one_line_entries(text: str) -> Iterator[Entry]:
    pattern = re.compile(r"deb(?:-src)?\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<rest>.+)")
    for line in text.splitlines():
        match = pattern.fullmatch(line.partition("#")[0].strip())
        if not match or len(words := match["rest"].split()) < 3:
            continue
        pairs = (option.partition("=") for option in (match["options"] or "").split())
        options = _access_options({name.lower(): value for name, _, value in pairs})
        yield words[0], words[1], words[2:], options


def _deb822_entries(text: str) -> Iterator[Entry]:
    for fields in paragraphs(text):
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        options = _access_options(fields)
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield uri, suite, fields.get("components", "").split(), options


def _access_options(fields: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, fields[name]) for name in ACCESS_OPTIONS if fields.get(name))


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Read deb822 paragraphs; field names in lower case, continuation lines kept as they are."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line[:1].isspace() and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.lower()
                fields[name] = value.strip()
        if fields:
            yield fields
