"""The rules for a series. Each rule is a function that yields what is wrong and how to mend it."""

import datetime
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.patch_file import PatchFile
from sluice_dist.release import Release
from sluice_dist.sources import place_faults
from sluice_dist.upstream import archives_of, upstream_faults

TITLE_MAXIMUM = 72
MINIMUM_WORDS = 10
FIELDS = ("Origin", "Forwarded", "Applied-Upstream", "Last-Update", "Removal-Test")


@dataclass(frozen=True)
class Finding:
    """One fault: the rule's name, the file, and what to do."""

    rule: str
    file: Path
    message: str


Rule = Callable[[Release], Iterator[tuple[Path, str]]]
RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    """Add FUNCTION to the rules, by its own name."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def findings(release: Release, rules: dict[str, Rule]) -> list[Finding]:
    """Give what RULES find wrong with RELEASE, rule by rule."""
    return [
        Finding(name, file, message)
        for name, check in rules.items()
        for file, message in check(release)
    ]


@rule
def upstream_complete(release: Release) -> Iterator[tuple[Path, str]]:
    """upstream.toml has all keys, and names places of known kinds."""
    file = release.folder / "upstream.toml"
    try:
        content = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        yield file, f"it is not TOML: {error}; correct that line"
        return
    faults = upstream_faults(content)
    if not faults:
        places = [place for archive in archives_of(content) for place in archive.sources]
        faults = [fault for place in places for fault in place_faults(place)]
    for fault in faults:
        yield file, f"{fault}; see docs/sluice-dist.md"
    if content.get("version") != release.version:
        yield file, f"'version' differs from the folder's name {release.version}; correct one"


@rule
def unlisted_file(release: Release) -> Iterator[tuple[Path, str]]:
    """The folder holds upstream.toml and the patches 0001, 0002, ..., and nothing else."""
    for number, patch in enumerate(release.patch_files, 1):
        if not patch.name.startswith(f"{number:04}-"):
            yield patch, f"it should be number {number:04}; `sluice-dist export` numbers patches"
    known = {release.folder / "upstream.toml", *release.patch_files}
    for file in sorted(release.folder.iterdir()):
        if file not in known:
            yield file, "it belongs to no series; delete it, or move it where it belongs"


@rule
def title(release: Release) -> Iterator[tuple[Path, str]]:
    """The title is `store: what it adds`."""
    pattern = re.compile(rf"{re.escape(release.store)}: [^\sA-Z].*[^.]")
    for patch in _patches(release):
        if not pattern.fullmatch(patch.title):
            advice = f"write '{release.store}: what it adds' (lower case, no full stop at the end)"
            yield patch.path, f"title '{patch.title}': {advice}"
        if len(patch.title) > TITLE_MAXIMUM:
            yield patch.path, f"the title has over {TITLE_MAXIMUM} characters; say it shorter"


@rule
def justification(release: Release) -> Iterator[tuple[Path, str]]:
    """A paragraph says why a plug-in alone does not suffice."""
    return _paragraph(
        release, "Why a patch:", "why a plug-in alone does not suffice, and what was tried"
    )


@rule
def inertness(release: Release) -> Iterator[tuple[Path, str]]:
    """A paragraph says why nothing changes while the hook is unused."""
    return _paragraph(release, "Inert by default:", "why nothing changes while the hook is unused")


def _paragraph(release: Release, start: str, content: str) -> Iterator[tuple[Path, str]]:
    for patch in _patches(release):
        found = [text for text in patch.paragraphs if text.startswith(start)]
        if not found:
            yield patch.path, f"add a paragraph that starts with '{start}' and says {content}"
        elif len(found[0].split()) < MINIMUM_WORDS + len(start.split()):
            yield patch.path, f"the paragraph '{start}' is too short to say {content}"


@rule
def dep3_fields(release: Release) -> Iterator[tuple[Path, str]]:
    """The message ends with a paragraph of the DEP-3 fields."""
    for patch in _patches(release):
        fields = patch.fields
        missing = [name for name in FIELDS if not fields.get(name)]
        if missing:
            yield patch.path, f"end the message with the fields {', '.join(missing)}"
        date = fields.get("Last-Update")
        if date and not _is_date(date):
            yield patch.path, f"Last-Update '{date}': write a date as 2026-01-31"


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@rule
def series_size(release: Release) -> Iterator[tuple[Path, str]]:
    """The series changes no more lines of upstream's than it may."""
    try:
        limit = release.upstream.maximum_changed_lines
    except DistError:
        return
    changed = sum(len(patch.changed_lines) for patch in _patches(release))
    if changed > limit:
        yield (
            release.folder,
            f"the series changes {changed} lines, {limit} are allowed; move logic to the plug-in",
        )


@rule
def trailing_whitespace(release: Release) -> Iterator[tuple[Path, str]]:
    """No added line ends with white space."""
    for patch in _patches(release):
        bad = [line for line in patch.changed_lines if re.fullmatch(r"\+.*[ \t\r]", line)]
        for line in bad:
            yield patch.path, f"the added line {line[1:]!r} ends with white space; remove it"


def _patches(release: Release) -> list[PatchFile]:
    return [PatchFile(file) for file in release.patch_files]
