"""Build the Debian packages of a release with debhelper, the same bytes from the same input."""

import hashlib
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.lock import only_one
from sluice_dist.packages.content import lay_out, source_file
from sluice_dist.packages.debhelper import (
    MAINTAINER,
    build_tree,
    dated_version,
    lint,
    publish,
)
from sluice_dist.packages.templates import PLUGIN_CONTROL, render_folder
from sluice_dist.release import Release
from sluice_dist.reproducible import folder_sha256, source_date_epoch, uncommitted_sha256

VARIANT_TITLES = {
    "patched": "with hook points",
    "stock": "as released",
    "unpatched": "with an empty series of patches",
}
VARIANT_DESCRIPTIONS = {
    "patched": (
        "It carries hook points with which a plug-in programs background work; with\n"
        " no plug-in loaded it behaves as upstream does."
    ),
    "stock": (
        "It is built from the unchanged source, by the same recipe as the variant with\n"
        " hook points, so that the two can be compared."
    ),
    "unpatched": (
        "Its series of patches is empty as yet: it behaves as the variant as released\n"
        " does, and is built by the same recipe."
    ),
}


def variant_words(release: Release) -> str:
    """Key of what is said about the variant: no hook points are promised that are not there."""
    return "unpatched" if release.variant == "patched" and not release.series else release.variant


def package_name(release: Release) -> str:
    """Name of the store's package."""
    return f"sluice-{release.store}-{release.label}"


def package_names(release: Release) -> list[str]:
    """Names of all packages of the release, the store's first."""
    name = package_name(release)
    return [name, f"{name}-plugin"] if has_plugin(release) else [name]


def has_plugin(release: Release) -> bool:
    """Whether the release has a package of its plug-in: never for stock."""
    templates = template_folders(release)[1]
    packaged = (templates / PLUGIN_CONTROL).exists() and release.plugin.is_dir()
    return release.variant == "patched" and packaged


def template_folders(release: Release) -> list[Path]:
    """The common templates, then the store's."""
    layout = release.layout
    return [layout.root / "build" / "packaging" / "debian", layout.recipe(release.store) / "debian"]


def package_inputs(release: Release) -> list[Path]:
    """Files and folders of the checkout that decide what is in the packages."""
    recipe = release.layout.recipe(release.store)
    # The image's own inputs are not the packages'.
    parts = sorted(entry for entry in recipe.iterdir() if entry.name not in ("debian", "image"))
    # What several stores have in common lies beside their recipes.
    parts += sorted(entry for entry in recipe.parent.iterdir() if entry.is_file())
    pin = release.folder / "upstream.toml"
    own = [release.folder, *release.plugin_sources] if release.variant == "patched" else [pin]
    return [*own, *parts, *template_folders(release)]


def build_packages(
    release: Release, rebuild: bool = False, check: Callable[[list[Path]], None] | None = None
) -> list[Path]:
    """Build and check unless nothing changed; gives the package files, the store's first.

    `check` (default: `lint`) raises for packages that are not fit. Earlier packages of the same
    names are replaced. Raises DistError if the store has no templates, is not compiled, or the
    build or the check fails.
    """
    templates = template_folders(release)[1]
    if not templates.is_dir():
        raise DistError(f"there is no {templates}", "add the store's packaging templates there")
    work = release.layout.work / "packaging" / release.store / release.label
    work.parent.mkdir(parents=True, exist_ok=True)
    with only_one(work.with_name(f"{work.name}.lock")):
        return _bring(release, work, rebuild, check or lint)


def _bring(
    release: Release, work: Path, rebuild: bool, check: Callable[[list[Path]], None]
) -> list[Path]:
    stamp = work / "inputs.sha256"
    epoch = source_date_epoch(release.layout.root, *package_inputs(release))
    uncommitted = uncommitted_sha256(release.layout.root, *package_inputs(release))
    version = dated_version(release.version, epoch, uncommitted)
    inputs = package_inputs_sha256(release, version)
    existing = existing_packages(release)
    if not rebuild and existing and stamp.exists() and stamp.read_text() == inputs:
        return existing
    shutil.rmtree(work, ignore_errors=True)
    tree = work / "tree"
    lay_out(release, tree, has_plugin(release))
    render_folder(
        template_folders(release),
        tree / "debian",
        template_values(release, epoch, version),
        lambda path: source_file(release, path),
        has_plugin(release),
    )
    build_tree(tree, epoch, work / "build.log")
    shutil.rmtree(tree)
    built = [next(work.glob(f"{name}_*.deb")) for name in package_names(release)]
    check(built)
    published = [publish(package, release.layout.packages) for package in built]
    stamp.write_text(inputs)
    return published


def existing_packages(release: Release) -> list[Path]:
    """The release's package files, the store's first; empty unless there is one of each."""
    folder = release.layout.packages
    found = [list(folder.glob(f"{name}_*.deb")) for name in package_names(release)]
    return [files[0] for files in found] if all(len(files) == 1 for files in found) else []


def package_inputs_sha256(release: Release, version: str) -> str:
    """Hash over what decides the packages' bytes: the staged files, templates and version.

    The version holds the time stamp.
    """
    folders = [release.stage, *template_folders(release)]
    labels = json.dumps(release.labels(), sort_keys=True)
    return hashlib.sha256(f"{folder_sha256(*folders)} {labels} {version}".encode()).hexdigest()


def template_values(release: Release, epoch: int, version: str) -> dict[str, str]:
    """Placeholders of the templates and their values."""
    moment = datetime.fromtimestamp(epoch, UTC)
    title = VARIANT_TITLES[variant_words(release)]
    return {
        "NAME": package_name(release),
        "STORE": release.store,
        "VERSION": release.version,
        "PREFIX": str(release.prefix),
        "DEBIAN_VERSION": version,
        "MAINTAINER": MAINTAINER,
        "DATE": format_datetime(moment),
        "SOURCE": f"{release.upstream.archive} (sha256 {release.upstream.sha256})",
        "TITLE": f"{release.upstream.name} {release.version} {title}.",
        "CHANGES": changes(release),
        "VARIANT_TITLE": title,
        "VARIANT_DESCRIPTION": VARIANT_DESCRIPTIONS[variant_words(release)],
    }


def changes(release: Release) -> str:
    """Lines of the changelog: the source, then the patches."""
    lines = [f"Source: {release.upstream.archive}, sha256", release.upstream.sha256]
    text = "\n".join(
        f"    {line}" if number else f"  * {line}" for number, line in enumerate(lines)
    )
    for patch in release.series:
        text += f"\n  * Patch: {patch.name}"
    return text
