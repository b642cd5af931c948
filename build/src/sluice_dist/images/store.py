"""A store's image: the node base plus the store's packages, with an entry point of its own."""

import hashlib
import json
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from sluice_dist.container_runtime import ContainerRuntime
from sluice_dist.control_plane import build_control_package, control_plane_sources
from sluice_dist.errors import DistError
from sluice_dist.images import sbom
from sluice_dist.images.buildah import ImageBuild, WorkingContainer, layers_of
from sluice_dist.images.node import RECIPE_LABEL, tar_of_folder
from sluice_dist.packages.content import PROVENANCE, provenance
from sluice_dist.packages.debian import existing_packages, package_inputs, package_names
from sluice_dist.release import Release
from sluice_dist.reproducible import folder_sha256, source_date_epoch

# apt's and dpkg's own state of the moment; what is left is a function of the packages.
# The node has no manual pages; Java's package links to its own, and fails without their folder.
INSTALL_SCRIPT = """
export DEBIAN_FRONTEND=noninteractive
mkdir -p /usr/share/man/man1
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends {packages}
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/ldconfig/aux-cache
rm -f /var/cache/debconf/*-old /var/lib/dpkg/*-old /etc/*- /var/lib/dpkg/lock*
rm -f /var/lib/apt/extended_states /var/lib/dpkg/triggers/Lock /var/cache/apt/archives/lock
find /var/log -type f -delete
"""


@dataclass(frozen=True)
class HealthCheck:
    """When the container counts as healthy; times in seconds."""

    command: str
    interval_seconds: int
    timeout_seconds: int
    start_period_seconds: int
    retries: int


@dataclass(frozen=True)
class StoreImageRecipe:
    """`build/stores/STORE/image/recipe.toml`; `folder` also holds `rootfs/`, copied as it is.

    With `control_plane` the image has the program `sluice` as well.
    """

    folder: Path
    packages: list[str]
    entrypoint: list[str]
    command: list[str]
    stop_signal: str
    health: HealthCheck
    control_plane: bool = False
    ports: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, release: Release) -> "StoreImageRecipe":
        """Read the recipe; raises DistError when it is missing or incomplete."""
        file = release.layout.recipe(release.store) / "image" / "recipe.toml"
        try:
            content = tomllib.loads(file.read_text())
            content["health"] = HealthCheck(**content["health"])
            return cls(folder=file.parent, **content)
        except FileNotFoundError:
            advice = "write it; build/stores/postgres/image/recipe.toml is an example"
            raise DistError(f"{file} is missing", advice) from None
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise DistError(f"{file}: {error}", "correct it") from None


def image_reference(release: Release) -> str:
    """Name and tag of the release's image."""
    return f"localhost/sluice/{release.store}:{release.label}"


def image_labels(release: Release) -> dict[str, str]:
    """Labels of the release's image; the first four are those of `sluice-dist show`."""
    return {
        **release.labels(),
        "dev.sluice.variant": release.variant,
        "org.opencontainers.image.version": release.label,
        "org.opencontainers.image.title": f"{release.upstream.name} {release.label}",
        "org.opencontainers.image.licenses": f"{release.upstream.licence} AND Apache-2.0",
    }


def image_epoch(release: Release) -> int:
    """Time stamp of the image: the last commit of its recipe, its packages' or the node's."""
    layout = release.layout
    folders = [layout.node_recipe, layout.recipe(release.store) / "image"]
    if StoreImageRecipe.load(release).control_plane:
        folders += control_plane_sources(layout)
    return source_date_epoch(layout.root, *folders, *package_inputs(release))


def build_store_image(
    release: Release, base: str, runtime: ContainerRuntime, epoch: int, rebuild: bool = False
) -> str:
    """Build the release's image on `base` unless it is there already; return its reference.

    Raises DistError when its packages are not built, or were built from another series.
    """
    recipe = StoreImageRecipe.load(release)
    debs = packages_of(release)
    if recipe.control_plane:
        debs = [*debs, build_control_package(release.layout)]
    inputs = inputs_sha256(recipe, debs, layers_of(runtime, base))
    build = ImageBuild(runtime, image_reference(release), epoch)
    if not rebuild and build.existing_label(RECIPE_LABEL) == inputs:
        return build.reference
    with build.from_image(base) as container:
        install(container, recipe, debs)
        files = release.layout.images / f"{release.store}-{release.label}.files.tar"
        files.write_bytes(tar_of_folder(recipe.folder / "rootfs", epoch))
        container.add(files, "/")
        files.unlink()
        container.add(write_sbom(release, container, epoch), sbom.FOLDER_IN_IMAGE + "/")
        configure(container, recipe, str(release.prefix))
        for name, value in {**image_labels(release), RECIPE_LABEL: inputs}.items():
            container.label(name, value)
        container.commit()
    return build.reference


def packages_of(release: Release) -> list[Path]:
    """The release's package files; raises DistError unless each is there, built from this series.

    A label that says more than what is inside would make every result row wrong.
    """
    name = f"{release.store}/{release.version}"
    again = f"run `sluice-dist package {name} --variant {release.variant}`"
    found = existing_packages(release)
    if not found:
        wanted = ", ".join(f"{name}_*.deb" for name in package_names(release))
        raise DistError(f"{release.layout.packages} has not one each of {wanted}", again)
    inside = provenance_of_package(found[0], release)
    if inside != provenance(release):
        raise DistError(f"{found[0].name} was built from another source, series or plug-in", again)
    return found


def provenance_of_package(package: Path, release: Release) -> dict[str, str] | None:
    """What provenance.json in the package says; None without such a file."""
    wanted = f"{release.prefix.relative_to('/')}/{PROVENANCE}"
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        # What dpkg-deb says when it is not read to its end is no news.
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive,
    ):
        for member in archive:
            if member.name.removeprefix("./") == wanted:
                return json.load(archive.extractfile(member))
    return None


def inputs_sha256(recipe: StoreImageRecipe, debs: list[Path], base_layers: list[str]) -> str:
    """Hash over everything that decides the image's content, but Debian's own packages."""
    digest = hashlib.sha256(f"{base_layers}\n{folder_sha256(recipe.folder)}\n".encode())
    for deb in debs:
        digest.update(hashlib.sha256(deb.read_bytes()).digest())
    return digest.hexdigest()


def install(container: WorkingContainer, recipe: StoreImageRecipe, debs: list[Path]) -> None:
    """Install the packages, and what they depend on from the node's own apt sources."""
    names = [*recipe.packages, *(f"/packages/{deb.name}" for deb in debs)]
    script = INSTALL_SCRIPT.format(packages=" ".join(names))
    container.run_script(script, [f"{debs[0].parent}:/packages:ro"])


def configure(container: WorkingContainer, recipe: StoreImageRecipe, prefix: str) -> None:
    """Set what a container of this image runs, and how it is asked whether it is well."""
    container.configure("--entrypoint", json.dumps(recipe.entrypoint))
    container.configure("--cmd", " ".join(recipe.command))
    container.configure("--stop-signal", recipe.stop_signal)
    for port in recipe.ports:
        container.configure("--port", port)
    for name, value in recipe.environment.items():
        container.configure("--env", f"{name}={value.replace('PREFIX', prefix)}")
    health = recipe.health
    container.configure(
        f"--healthcheck=CMD {health.command}",
        f"--healthcheck-interval={health.interval_seconds}s",
        f"--healthcheck-timeout={health.timeout_seconds}s",
        f"--healthcheck-start-period={health.start_period_seconds}s",
        f"--healthcheck-retries={health.retries}",
    )


def write_sbom(release: Release, container: WorkingContainer, epoch: int) -> Path:
    """Write the bill of materials of what is installed in `container`."""
    status = container.run_script(f"cat /{sbom.DPKG_STATUS}", [])
    components = [*sbom.of_release(release), *sbom.debian_components(status)]
    name = f"sluice-{release.store}-{release.label}"
    file = release.layout.images / f"{release.store}-{release.label}.spdx.json"
    file.write_text(sbom.document(name, components, epoch))
    return file
