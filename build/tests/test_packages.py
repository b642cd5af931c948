"""Packages of a made-up store, built by the real debhelper: a store needs a folder, and no code."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import Project, commit, user_git
from sluice_dist.errors import DistError
from sluice_dist.packages.content import source_file
from sluice_dist.packages.debhelper import dated_version
from sluice_dist.packages.debian import build_packages, existing_packages
from sluice_dist.packages.templates import indented, render
from sluice_dist.release import Release

COMMON = Path(__file__).parents[1] / "packaging" / "debian"
EPOCH = "1700000000"
TEMPLATES = {
    "control": """\
Source: @NAME@
Section: misc
Priority: optional
Maintainer: @MAINTAINER@
Build-Depends: debhelper-compat (= 13)
Standards-Version: 4.6.2
Rules-Requires-Root: no

Package: @NAME@
Architecture: any
Depends: ${misc:Depends}, ${shlibs:Depends}
Description: greeter @VERSION@ @VARIANT_TITLE@
 Greets whoever calls it from @PREFIX@.
 .
 @VARIANT_DESCRIPTION@
""",
    "control.plugin": """\

Package: @NAME@-plugin
Architecture: all
Depends: @NAME@, ${misc:Depends}
Description: plug-in of the greeter @VERSION@
 Greets in other words.
""",
    "copyright": """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026, Toy Makers
License: Toy
@SOURCE_FILE:README@
""",
    "NAME.install": "store/* /\ndebian/system/*.service lib/systemd/system\n",
    "NAME-plugin.install": "plugin/* /\n",
    "NAME.lintian-overrides": (
        "# Side by side installation is what /opt is for.\n@NAME@: dir-or-file-in-opt\n"
        "# A script stands for the program.\n@NAME@: executable-in-usr-lib\n"
    ),
    "NAME-plugin.lintian-overrides": (
        "# Side by side installation is what /opt is for.\n@NAME@-plugin: dir-or-file-in-opt\n"
    ),
    "system/NAME-night@.service": """\
[Unit]
Description=greeter of the night, instance %i
Documentation=https://example.org/greeter

[Service]
ExecStart=@PREFIX@/bin/greet

[Install]
WantedBy=multi-user.target
""",
    "exclude": "# Not for users.\nlib/test/*\n",
}


@pytest.fixture
def packaged(series: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The made-up store with packaging templates, staged in both variants."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    templates = series.layout.recipe("toy") / "debian"
    templates.mkdir()
    for name, text in TEMPLATES.items():
        (templates / name).parent.mkdir(exist_ok=True)
        (templates / name).write_text(text)
    (series.root / "plugins" / "toy").mkdir(parents=True)
    common = series.root / "build" / "packaging"
    common.mkdir(parents=True)
    (common / "debian").symlink_to(COMMON)
    for variant in ("patched", "stock"):
        stage(series.release("toy", variant))
    return series


def build(release: Release, rebuild: bool = False) -> list[Path]:
    """Build without lintian, which takes seconds and has tests of its own."""
    return build_packages(release, rebuild, check=lambda _: None)


def stage(release: Release) -> None:
    for name in ("bin/greet", "lib/test/probe"):
        file = release.staged_prefix / name
        file.parent.mkdir(parents=True)
        file.write_text("#!/bin/sh\necho hello\n")
        file.chmod(0o700)
    if release.variant == "patched":
        for stage_folder in (release.stage, release.plugin_stage):
            plugin = stage_folder / release.prefix.relative_to("/") / "share" / "plugin.txt"
            plugin.parent.mkdir(parents=True)
            plugin.write_text("greetings\n")


def contents(package: Path) -> dict[str, tarfile.TarInfo]:
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive,
    ):
        return {member.name.removeprefix("."): member for member in archive}


def field(package: Path, name: str) -> str:
    command = ["dpkg-deb", "--field", str(package), name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_template_in_a_folder_takes_the_packages_name_too(packaged: Project):
    stock = build(packaged.release("toy", "stock"))[0]
    unit = "/lib/systemd/system/sluice-toy-1.0-stock-night@.service"
    assert unit in contents(stock)


def test_systemd_reads_what_an_upgrade_has_changed(packaged: Project):
    store, plugin = build(packaged.release())
    subprocess.run(["dpkg-deb", "--control", str(store), str(packaged.root / "out")], check=True)
    assert "systemctl --system daemon-reload" in (packaged.root / "out/postinst").read_text()
    # It has no units.
    subprocess.run(["dpkg-deb", "--control", str(plugin), str(packaged.root / "in")], check=True)
    assert not (packaged.root / "in/postinst").exists()


def test_a_series_without_patches_promises_no_hooks(packaged: Project):
    for patch in packaged.release().patch_files:
        patch.unlink()
    description = field(build(packaged.release())[0], "Description")
    assert "with hook points" not in description
    assert "empty" in description


def test_a_hyphen_in_the_version_begins_no_debian_revision():
    assert dated_version("2.6-x", 0) == "2.6.x+sluice19700101000000"


def commit_all(project: Project) -> None:
    """Commit the checkout, without what it makes."""
    (project.root / ".gitignore").write_text(".work/\n")
    user_git(project.root, "init", "--quiet")
    commit(project.root, "all")


def test_what_is_changed_without_a_commit_is_another_version(packaged: Project):
    release = packaged.release("toy", "stock")
    commit_all(packaged)
    clean = field(build(release)[0], "Version")
    assert clean == "1.0+sluice20231114221320"
    default = packaged.layout.recipe("toy") / "debian" / "NAME.default"
    versions = [clean]
    for text in ("A=1\n", "A=2\n"):
        default.write_text(text)
        versions.append(field(build(release)[0], "Version"))
        assert re.fullmatch(re.escape(clean) + r"\+dirty\.[0-9a-f]{8}", versions[-1])
        subprocess.run(["dpkg", "--compare-versions", clean, "lt", versions[-1]], check=True)
    assert len(set(versions)) == 3
    later = dated_version("1.0", int(EPOCH) + 1)
    subprocess.run(["dpkg", "--compare-versions", versions[-1], "lt", later], check=True)
    default.unlink()
    assert field(build(release)[0], "Version") == clean


def test_a_change_elsewhere_is_no_other_version(packaged: Project):
    commit_all(packaged)
    (packaged.root / "notes").write_text("of what is no input\n")
    stock = build(packaged.release("toy", "stock"))[0]
    assert field(stock, "Version") == "1.0+sluice20231114221320"


def test_store_and_plugin_are_parted(packaged: Project):
    store, plugin = build(packaged.release())
    assert field(store, "Package") == "sluice-toy-1.0"
    assert field(plugin, "Package") == "sluice-toy-1.0-plugin"
    assert field(store, "Version") == "1.0+sluice20231114221320"
    assert "/opt/sluice/toy/1.0/share/plugin.txt" in contents(plugin)
    assert "/opt/sluice/toy/1.0/share/plugin.txt" not in contents(store)
    greet = contents(store)["/opt/sluice/toy/1.0/bin/greet"]
    assert (greet.mode, greet.uname, greet.mtime) == (0o755, "root", int(EPOCH))


def test_before_there_is_a_plugin_there_is_no_package_of_it(packaged: Project):
    packaged.release().plugin.rmdir()
    (store,) = build(packaged.release())
    assert field(store, "Package") == "sluice-toy-1.0"


def test_stock_has_no_plugin_and_another_prefix(packaged: Project):
    (store,) = build(packaged.release("toy", "stock"))
    assert field(store, "Package") == "sluice-toy-1.0-stock"
    assert "/opt/sluice/toy/1.0-stock/bin/greet" in contents(store)


def test_provenance_repeats_the_labels(packaged: Project):
    release = packaged.release()
    store = build(release)[0]
    command = ["dpkg-deb", "--extract", str(store), str(packaged.root / "out")]
    subprocess.run(command, check=True)
    installed = packaged.root / "out/opt/sluice/toy/1.0/provenance.json"
    expected = {"store": "toy", "variant": "patched", **release.labels()}
    assert json.loads(installed.read_text()) == expected


def test_licence_comes_from_the_pinned_archive(packaged: Project):
    store = build(packaged.release())[0]
    subprocess.run(["dpkg-deb", "--extract", str(store), str(packaged.root / "out")], check=True)
    text = (packaged.root / "out/usr/share/doc/sluice-toy-1.0/copyright").read_text()
    assert "License: Toy\n toy\n" in text


def test_same_input_gives_the_same_bytes(packaged: Project):
    release = packaged.release()
    first = [sha256(package) for package in build(release)]
    # When a file was fetched or checked out is no input, be it long ago.
    os.utime(release.staged_prefix / "bin" / "greet", (1_600_000_000, 1_600_000_000))
    second = [sha256(package) for package in build(release, rebuild=True)]
    assert first == second


def test_unchanged_packages_are_kept_and_changed_ones_are_replaced(
    packaged: Project, monkeypatch: pytest.MonkeyPatch
):
    release = packaged.release()
    first = build(release)
    times = [package.stat().st_mtime_ns for package in first]
    assert build(release) == first
    assert [package.stat().st_mtime_ns for package in first] == times
    (release.staged_prefix / "bin" / "greet").write_text("#!/bin/sh\necho bye\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(EPOCH) + 1))
    second = build(release)
    assert existing_packages(release) == second
    assert not any(package.exists() for package in first)


def test_what_is_excluded_is_left_out(packaged: Project):
    store = build(packaged.release())[0]
    assert not [name for name in contents(store) if "/lib/test" in name]


def test_an_exclusion_of_nothing_is_refused(packaged: Project):
    (packaged.layout.recipe("toy") / "debian" / "exclude").write_text("lib/gone/*\n")
    with pytest.raises(DistError, match="nothing matches lib/gone"):
        build(packaged.release())


def test_an_uncompiled_release_is_refused(packaged: Project):
    release = packaged.release()
    release.stage.rename(packaged.root / "away")
    with pytest.raises(DistError, match=r"run `sluice-dist compile toy/1\.0"):
        build(release)


def test_a_missing_plugin_is_refused(packaged: Project):
    release = packaged.release()
    release.plugin_stage.rename(packaged.root / "away")
    with pytest.raises(DistError, match=r"plug-in of toy/1\.0 is not compiled"):
        build(release)


def test_lintian_is_content(packaged: Project):
    assert len(build_packages(packaged.release())) == 2


def test_lintian_decides(packaged: Project):
    overrides = packaged.layout.recipe("toy") / "debian" / "NAME.lintian-overrides"
    overrides.unlink()
    with pytest.raises(DistError, match="dir-or-file-in-opt"):
        build_packages(packaged.release())
    assert existing_packages(packaged.release()) == []


def test_a_failed_build_shows_its_end_and_names_its_log(packaged: Project):
    (packaged.layout.recipe("toy") / "debian" / "NAME.install").write_text("absent/* /\n")
    with pytest.raises(DistError, match=r"(?s)absent.*build\.log"):
        build(packaged.release())


def test_a_store_without_templates_is_refused(series: Project):
    with pytest.raises(DistError, match="add the store's packaging templates"):
        build(series.release())


def test_an_unknown_placeholder_is_refused():
    with pytest.raises(DistError, match="control: unknown placeholder @WHAT@"):
        render("Package: @WHAT@", {"NAME": "x"}, str, "control")


def test_systemd_instances_are_no_placeholders():
    assert render("@NAME@@%i.service", {"NAME": "x"}, str, "unit") == "x@%i.service"


def test_a_licence_is_indented_for_a_control_field():
    assert indented("one\n\n two  \n") == " one\n .\n  two"


def test_a_file_that_the_archive_lacks_is_refused(series: Project):
    with pytest.raises(DistError, match="has no file COPYING"):
        source_file(series.release(), "COPYING")
