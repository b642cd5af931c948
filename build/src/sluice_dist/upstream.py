"""upstream.toml: which source a series applies to, and where it may come from."""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_dist.errors import DistError

MAXIMUM_CHANGED_LINES = 120

_TEXT_KEYS = ("name", "version", "licence")
# A store's source is one archive, or the sources of some Maven modules.
_ARCHIVE_TEXT_KEYS = ("archive", "sha256")
_MODULE_TEXT_KEYS = ("artifact", "sha256")
_OPTIONAL_KEYS = ("maximum_changed_lines",)
_MODULE_OPTIONAL_KEYS = ("folder", "generated")
_ARTIFACT = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")


@dataclass(frozen=True)
class SourceArchive:
    """A pinned file, and the places that may have it.

    `root` is the folder inside it that holds the source; by default the only one. With `module` it
    is the sources artifact of a Maven module, which has that folder in upstream's repository;
    `generated` are folders of it that upstream's build made.
    """

    name: str
    sha256: str
    sources: tuple[dict[str, Any], ...]
    root: str = ""
    module: str = ""
    generated: tuple[str, ...] = ()


@dataclass(frozen=True)
class Upstream:
    """A pinned upstream source."""

    name: str
    version: str
    licence: str
    archives: tuple[SourceArchive, ...]
    maximum_changed_lines: int = MAXIMUM_CHANGED_LINES

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
        return cls(**values, archives=archives_of(content))

    @property
    def archive(self) -> str:
        """Names of the archives."""
        return ", ".join(archive.name for archive in self.archives)

    @property
    def sha256(self) -> str:
        """Hash of the archive; of several, the hash over a list of theirs."""
        if len(self.archives) == 1:
            return self.archives[0].sha256
        listed = "".join(f"{archive.sha256}  {archive.name}\n" for archive in self.archives)
        return hashlib.sha256(listed.encode()).hexdigest()

    @property
    def tree_sha256(self) -> str:
        """Hash over the archives and over how they are laid out."""
        return hashlib.sha256(
            repr(
                [
                    (archive.sha256, archive.root, archive.module, archive.generated)
                    for archive in self.archives
                ]
            ).encode()
        ).hexdigest()


def archives_of(content: dict[str, Any]) -> tuple[SourceArchive, ...]:
    """Give the archives that the content of an upstream.toml without faults names."""
    if "module" in content:
        return tuple(_module_archive(module) for module in content["module"])
    root, places = content.get("root", ""), tuple(content["source"])
    return (SourceArchive(content["archive"], content["sha256"], places, root),)


def _module_archive(module: dict[str, Any]) -> SourceArchive:
    _, name, version = module["artifact"].split(":")
    place = {"kind": "maven", "artifact": f"{module['artifact']}:jar:sources"}
    return SourceArchive(
        f"{name}-{version}-sources.jar",
        module["sha256"],
        (place,),
        module=module.get("folder", name),
        generated=tuple(module.get("generated", ())),
    )


def upstream_faults(content: dict[str, Any]) -> list[str]:
    """Say what is wrong with the content of an upstream.toml; nothing if all is well."""
    faults = _missing(content, _TEXT_KEYS)
    limit = content.get("maximum_changed_lines", MAXIMUM_CHANGED_LINES)
    if type(limit) is not int or not 0 <= limit <= MAXIMUM_CHANGED_LINES:
        faults.append(f"'maximum_changed_lines' can only lower the bound {MAXIMUM_CHANGED_LINES}")
    if "module" not in content:
        known = {*_TEXT_KEYS, *_OPTIONAL_KEYS, *_ARCHIVE_TEXT_KEYS, "root", "source"}
        return faults + _unknown(content, known) + _archive_faults(content)
    faults += _unknown(content, {*_TEXT_KEYS, *_OPTIONAL_KEYS, "module"})
    modules = content["module"]
    if not isinstance(modules, list) or not modules:
        return [*faults, "'module' has to be written [[module]], once for each"]
    return faults + [
        f"[[module]] {number}: {fault}"
        for number, module in enumerate(modules, 1)
        for fault in _module_faults(module)
    ]


def _archive_faults(content: dict[str, Any]) -> list[str]:
    faults = _missing(content, _ARCHIVE_TEXT_KEYS) + _hash_faults(content)
    if "/" in str(content.get("archive", "")):
        faults.append("'archive' has to be a plain file name")
    sources = content.get("source")
    if not isinstance(sources, list) or not sources:
        return [*faults, "there is no [[source]]"]
    return faults + [f"[[source]] {n} has no 'kind'" for n in _without_kind(sources)]


def _module_faults(module: dict[str, Any]) -> list[str]:
    faults = _missing(module, _MODULE_TEXT_KEYS) + _hash_faults(module)
    faults += _unknown(module, {*_MODULE_TEXT_KEYS, *_MODULE_OPTIONAL_KEYS})
    if not _ARTIFACT.fullmatch(str(module.get("artifact", ""))):
        faults.append("'artifact' has to be group:name:version")
    generated = module.get("generated", [])
    if not isinstance(generated, list) or not all(isinstance(name, str) for name in generated):
        faults.append("'generated' has to be a list of folders")
    folder = str(module.get("folder", ""))
    if folder.startswith("/") or ".." in folder.split("/"):
        faults.append("'folder' has to be a path inside upstream's repository")
    return faults


def _missing(content: dict[str, Any], keys: tuple[str, ...]) -> list[str]:
    return [f"'{key}' is missing or no text" for key in keys if not _is_text(content, key)]


def _unknown(content: dict[str, Any], known: set[str]) -> list[str]:
    return [f"'{key}' is not a known key" for key in sorted(set(content) - known)]


def _hash_faults(content: dict[str, Any]) -> list[str]:
    if re.fullmatch("[0-9a-f]{64}", str(content.get("sha256", ""))):
        return []
    return ["'sha256' has to be 64 lower-case hexadecimal digits"]


def _is_text(content: dict[str, Any], key: str) -> bool:
    return isinstance(content.get(key), str) and bool(content[key])


def _without_kind(sources: list[dict[str, Any]]) -> list[int]:
    return [n for n, source in enumerate(sources, 1) if not _is_text(source, "kind")]
