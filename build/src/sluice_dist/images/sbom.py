"""Software bills of materials in SPDX 2.3 JSON: Debian packages, upstream source, plug-in.

The document is a function of its inputs alone (no time of day, no random identifier), so that an
image that holds it stays reproducible.
"""

import base64
import hashlib
import json
import re
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import Parser
from pathlib import Path
from urllib.parse import quote

from sluice_dist.errors import DistError
from sluice_dist.recipe import Recipe
from sluice_dist.release import Release
from sluice_dist.upstream import SourceArchive, Upstream

FOLDER_IN_IMAGE = "/usr/share/sluice/sbom"
NAMESPACE = "urn:sluice:spdx"
LOCK = "dependencies-lock.json"
SHIPPED_SCOPES = ("compile", "runtime")
DPKG_STATUS = "var/lib/dpkg/status"


@dataclass(frozen=True)
class Component:
    """One entry of the bill.

    `purl` is a package URL; `sha256` is of the source archive, None where dpkg does not say it;
    `sha512` is of an artifact, as its lock file has it.
    """

    name: str
    version: str
    purl: str
    supplier: str = "NOASSERTION"
    sha256: str | None = None
    sha512: str | None = None
    download_location: str = "NOASSERTION"
    licence: str = "NOASSERTION"
    comment: str | None = None


def of_debian_rootfs(rootfs: Path, name: str, epoch: int) -> str:
    """SPDX text for the packages installed in a root file system that is a tar file."""
    with tarfile.open(rootfs) as archive:
        member = next(m for m in archive if m.name.lstrip("./") == DPKG_STATUS)
        content = archive.extractfile(member)
        if content is None:
            raise ValueError(f"{rootfs} has no readable {DPKG_STATUS}")
        status = content.read().decode()
    return document(name, debian_components(status), epoch)


def debian_components(status: str) -> list[Component]:
    """Installed packages of a dpkg status file, sorted by name."""
    found = []
    for paragraph in re.split(r"\n{2,}", status.strip()):
        fields = Parser().parsestr(paragraph, headersonly=True)
        if fields["Status"] != "install ok installed":
            continue
        package, version = fields["Package"], fields["Version"]
        vendor = "sluice" if package.startswith("sluice-") else "debian"
        encoded = quote(version, safe=".+~-")
        found.append(
            Component(
                name=package,
                version=version,
                purl=f"pkg:deb/{vendor}/{package}@{encoded}?arch={fields['Architecture']}",
                supplier=f"Organization: {fields['Maintainer']}",
            )
        )
    return sorted(found, key=lambda component: component.name)


def of_release(release: Release) -> list[Component]:
    """What a release is made from: upstream's source, the series and the plug-in."""
    upstream = release.upstream
    made_from = [_source(upstream, archive) for archive in upstream.archives]
    if release.series:
        names = ", ".join(patch.name for patch in release.series)
        made_from += [
            _own_part(release, "series", release.series_sha256, upstream.licence, names),
            _own_part(release, "plugin", release.plugin_sha256, "Apache-2.0", "source files"),
        ]
    return made_from + distribution_components(release)


def distribution_components(release: Release) -> list[Component]:
    """The Maven artifacts of a release's distribution, by its lock files, sorted by name."""
    folder = release.layout.recipe(release.store)
    if not (folder / "recipe.toml").exists():
        return []
    recipe = Recipe.load(release)
    if not recipe.distribution_folder:
        return []
    found = {}
    for lock in sorted((recipe.folder / recipe.distribution_folder).rglob(LOCK)):
        for artifact in json.loads(lock.read_text())["dependencies"]:
            if artifact["scope"] in SHIPPED_SCOPES and artifact["integrity"] != "ignored":
                component = _artifact(artifact)
                found[component.purl] = component
    return sorted(found.values(), key=lambda component: component.name)


def _artifact(artifact: dict[str, str]) -> Component:
    group, name, version = (artifact[key] for key in ("groupId", "artifactId", "version"))
    algorithm, _, encoded = artifact["integrity"].partition(":")
    if algorithm != "sha512":
        raise DistError(
            f"the lock file has {algorithm} of {group}:{name}", "lock it with the plug-in's default"
        )
    return Component(
        name=f"{group}:{name}",
        version=version,
        purl=f"pkg:maven/{group}/{name}@{version}",
        sha512=base64.b64decode(encoded).hex(),
    )


def _source(upstream: Upstream, archive: SourceArchive) -> Component:
    place = next((place["url"] for place in archive.sources if "url" in place), "NOASSERTION")
    name, purl = upstream.name, f"pkg:generic/{upstream.name}@{upstream.version}"
    if archive.module:
        group, name, version, *_ = archive.sources[0]["artifact"].split(":")
        purl = f"pkg:maven/{group}/{name}@{version}?classifier=sources"
    return Component(
        name=name,
        version=upstream.version,
        purl=purl,
        sha256=archive.sha256,
        download_location=place,
        licence=upstream.licence,
        comment=f"source archive {archive.name}",
    )


def _own_part(release: Release, part: str, sha256: str, licence: str, content: str) -> Component:
    name = f"sluice-{release.store}-{part}"
    comment = f"{content}; the checksum is label dev.sluice.{part}.sha256 of `sluice-dist show`"
    purl = f"pkg:generic/{name}@{release.version}"
    return Component(name, release.version, purl, sha256=sha256, licence=licence, comment=comment)


def document(name: str, components: list[Component], epoch: int) -> str:
    """The SPDX 2.3 document, as JSON text; `epoch` is its creation time in seconds."""
    packages = [_package(component) for component in components]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    body = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"{NAMESPACE}:{name}-{digest}",
        "creationInfo": {
            "created": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: sluice-dist"],
        },
        "packages": packages,
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT",
                "relationshipType": "DESCRIBES",
                "relatedSpdxElement": package["SPDXID"],
            }
            for package in packages
        ],
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _package(component: Component) -> dict[str, object]:
    identifier = re.sub(r"[^A-Za-z0-9.-]", "-", f"{component.name}-{component.version}")
    entry: dict[str, object] = {
        "SPDXID": f"SPDXRef-Package-{identifier}",
        "name": component.name,
        "versionInfo": component.version,
        "supplier": component.supplier,
        "downloadLocation": component.download_location,
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": component.licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": component.purl,
            }
        ],
    }
    checksums = {"SHA256": component.sha256, "SHA512": component.sha512}
    if any(checksums.values()):
        entry["checksums"] = [
            {"algorithm": algorithm, "checksumValue": value}
            for algorithm, value in checksums.items()
            if value
        ]
    if component.comment:
        entry["comment"] = component.comment
    return entry
