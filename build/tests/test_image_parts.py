"""What images are made of: apt's sources, time stamps, bills of materials, copied files."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import Project, user_git
from images import ROOT
from sluice_dist.errors import DistError
from sluice_dist.images import machine_apt
from sluice_dist.images.machine_apt import parse_index_targets, select_acquire_settings
from sluice_dist.images.node import NodeRecipe, recipe_hash, tar_of_folder
from sluice_dist.images.sbom import Component, debian_components, document, of_release
from sluice_dist.images.store import StoreImageRecipe, image_labels, packages_of
from sluice_dist.layout import Layout
from sluice_dist.release import find_release
from sluice_dist.reproducible import folder_sha256, source_date_epoch

NODE = Path(__file__).parents[1] / "images" / "node"
STATUS = """\
Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1:1.2.13
Maintainer: Mark Brown <broonie@debian.org>
Description: compression
 library

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1
Maintainer: No One <none@debian.org>

Package: sluice-toy-1.0
Status: install ok installed
Architecture: amd64
Version: 1.0+sluice20231114221320
Maintainer: Toys <toys@debian.org>
"""


def test_only_debian_of_the_suite_is_used():
    listing = (
        "http://mirror/debian/\tbookworm\tmain\tDebian\n"
        "http://mirror/debian/\tbookworm\tcontrib\tDebian\n"
        "http://mirror/security/\tbookworm-security\tmain\tDebian\n"
        "http://mirror/debian/\ttrixie\tmain\tDebian\n"
        "http://vendor/apt/\tbookworm\tmain\tVendor\n"
    )
    assert parse_index_targets(listing, "bookworm") == [
        "deb http://mirror/debian/ bookworm contrib main",
        "deb http://mirror/security/ bookworm-security main",
    ]


def test_a_password_of_an_archive_gets_into_no_image():
    listing = (
        "https://user:word@mirror:8443/debian/\tbookworm\tmain\tDebian\n"
        "https://mirror:8443/debian/\tbookworm\tcontrib\tDebian\n"
        "file:/srv/debian@home/\tbookworm-updates\tmain\tDebian\n"
    )
    assert parse_index_targets(listing, "bookworm") == [
        "deb https://mirror:8443/debian/ bookworm contrib main",
        "deb file:/srv/debian@home/ bookworm-updates main",
    ]


def test_settings_of_downloads_are_taken_and_secrets_are_not():
    dump = (
        'Acquire "";\nAcquire::http::Proxy "http://proxy:3128";\n'
        'Acquire::https::Proxy "http://user:word@proxy:3128";\n'
        'Acquire::Check-Date "false";\nAPT::Architecture "amd64";\nAcquire::cdrom::mount "/m";\n'
    )
    assert select_acquire_settings(dump) == (
        'Acquire::http::Proxy "http://proxy:3128";\nAcquire::Check-Date "false";\n'
    )


def test_copied_files_do_not_depend_on_the_checkout(tmp_path: Path):
    trees = []
    for number, mode in enumerate((0o600, 0o644)):
        folder = tmp_path / str(number) / "etc"
        folder.mkdir(parents=True)
        for name in ("b", "a") if number else ("a", "b"):
            (folder / name).write_text(name)
            (folder / name).chmod(mode)
            os.utime(folder / name, (number, number))
        trees.append(tar_of_folder(folder.parent, 1_700_000_000))
    assert trees[0] == trees[1]
    with tarfile.open(fileobj=io.BytesIO(trees[0])) as archive:
        assert [member.name for member in archive] == ["etc/a", "etc/b"]


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the machine's apt says; a test may change it."""
    said = {
        "indextargets": "http://mirror/debian/\tbookworm\tmain\tDebian\n",
        "dump": 'Acquire::Retries "3";\nAPT::Architecture "amd64";\n',
    }

    def run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, said[command[1]])

    monkeypatch.setattr(machine_apt.subprocess, "run", run)
    return said


def test_the_node_recipe_decides_its_hash(apt: dict[str, str]):
    recipe = NodeRecipe.load(NODE)
    other = NodeRecipe(**{**vars(recipe), "packages": [*recipe.packages, "more"]})
    assert recipe_hash(recipe) == recipe_hash(NodeRecipe.load(NODE))
    assert recipe_hash(recipe) != recipe_hash(other)


def test_the_machines_apt_decides_the_nodes_hash_too(apt: dict[str, str]):
    recipe = NodeRecipe.load(NODE)
    hashes = [recipe_hash(recipe)]
    apt["indextargets"] += "http://mirror/debian/\tbookworm-updates\tmain\tDebian\n"
    hashes.append(recipe_hash(recipe))
    apt["dump"] += 'Acquire::http::Proxy "http://proxy:3128";\n'
    hashes.append(recipe_hash(recipe))
    assert len(set(hashes)) == len(hashes)


def test_what_apt_says_in_another_order_is_no_other_node(apt: dict[str, str]):
    recipe = NodeRecipe.load(NODE)
    apt["indextargets"] += "http://mirror/debian/\tbookworm\tcontrib\tDebian\n"
    first = recipe_hash(recipe)
    apt["indextargets"] = "".join(reversed(apt["indextargets"].splitlines(keepends=True)))
    apt["dump"] += 'APT::Install-Recommends "0";\n'
    assert recipe_hash(recipe) == first


def test_names_modes_and_contents_decide_a_folders_hash(tmp_path: Path):
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.write_text("text")
    hashes = [folder_sha256(file.parent)]
    file.chmod(0o755)
    hashes.append(folder_sha256(file.parent))
    file.write_text("other")
    hashes.append(folder_sha256(file.parent))
    file.rename(file.with_name("renamed"))
    hashes.append(folder_sha256(file.parent))
    assert len(set(hashes)) == len(hashes)


def test_the_last_commit_of_the_inputs_is_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    user_git(tmp_path, "init", "--quiet")
    for second, name in ((1_700_000_001, "input"), (1_700_000_002, "other")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{second} +0000")
        (tmp_path / name).write_text(name)
        user_git(tmp_path, "add", name)
        user_git(tmp_path, "commit", "--quiet", "--message", name)
    assert source_date_epoch(tmp_path, tmp_path / "input") == 1_700_000_001
    assert source_date_epoch(tmp_path, tmp_path / "not committed") == 1_700_000_002
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "7")
    assert source_date_epoch(tmp_path, tmp_path / "input") == 7


def test_the_time_is_known_in_a_checkout_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    user_git(tmp_path, "init", "--quiet")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1700000001 +0000")
    user_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "input")
    # Git's own way to test this without a second user.
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert source_date_epoch(tmp_path) == 1_700_000_001


@pytest.mark.parametrize(("value", "advice"), [("noon", "unset it"), (None, "set SOURCE_DATE")])
def test_a_time_that_is_not_to_be_had_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, advice: str
):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if value:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(DistError, match=advice):
        source_date_epoch(tmp_path, tmp_path)


def test_installed_packages_are_listed():
    found = debian_components(STATUS)
    assert [(component.name, component.version) for component in found] == [
        ("sluice-toy-1.0", "1.0+sluice20231114221320"),
        ("zlib1g", "1:1.2.13"),
    ]
    assert found[0].purl.startswith("pkg:deb/sluice/")
    assert found[1].purl == "pkg:deb/debian/zlib1g@1%3A1.2.13?arch=amd64"


def test_a_release_lists_source_series_and_plugin(series: Project):
    release = series.release()
    found = {component.name: component for component in of_release(release)}
    assert found["toy"].sha256 == release.upstream.sha256
    assert found["toy"].download_location == release.upstream.archives[0].sources[0]["url"]
    assert found["sluice-toy-series"].sha256 == release.series_sha256
    assert found["sluice-toy-plugin"].sha256 == release.plugin_sha256
    assert [c.name for c in of_release(series.release("toy", "stock"))] == ["toy"]


def test_the_document_is_spdx_and_a_function_of_its_content():
    components = [Component("a", "1", "pkg:generic/a@1", sha256="0" * 64)]
    text = document("name", components, 1_700_000_000)
    assert text == document("name", components, 1_700_000_000)
    body = json.loads(text)
    assert body["spdxVersion"] == "SPDX-2.3"
    assert body["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    assert body["packages"][0]["checksums"] == [{"algorithm": "SHA256", "checksumValue": "0" * 64}]
    described = [relation["relatedSpdxElement"] for relation in body["relationships"]]
    assert described == [package["SPDXID"] for package in body["packages"]]
    other = document("name", [Component("a", "2", "pkg:generic/a@2")], 1_700_000_000)
    assert json.loads(other)["documentNamespace"] != body["documentNamespace"]


def test_an_image_repeats_the_labels_of_show(series: Project):
    release = series.release("toy", "stock")
    labels = image_labels(release)
    assert release.labels().items() <= labels.items()
    assert labels["org.opencontainers.image.version"] == "1.0-stock"


def test_an_image_without_recipe_or_packages_is_refused(series: Project):
    with pytest.raises(DistError, match=r"recipe\.toml is missing"):
        StoreImageRecipe.load(series.release())
    with pytest.raises(DistError, match=r"run `sluice-dist package toy/1\.0 --variant patched`"):
        packages_of(series.release())


def test_the_program_of_the_control_plane_is_in_an_image_that_asks_for_it():
    layout = Layout.find(ROOT)
    recipes = {
        store: StoreImageRecipe.load(find_release(layout, store)) for store in ("rocksdb", "hbase")
    }
    assert recipes["rocksdb"].control_plane
    assert not recipes["hbase"].control_plane


def test_an_incomplete_image_recipe_is_refused(series: Project):
    folder = series.layout.recipe("toy") / "image"
    folder.mkdir()
    (folder / "recipe.toml").write_text("packages = []\n")
    with pytest.raises(DistError, match="health"):
        StoreImageRecipe.load(series.release())
