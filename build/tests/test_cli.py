import json
import os
import pkgutil
import subprocess
import sys

import pytest
from conftest import Project
from sluice_dist import commands
from sluice_dist.release import version_key

COMMANDS = [
    found.name
    for found in pkgutil.iter_modules(commands.__path__)
    if not found.name.startswith("_")
]


def test_help_names_every_command(capsys: pytest.CaptureFixture[str], project: Project) -> None:
    with pytest.raises(SystemExit) as ended:
        project.run("--help")
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for command in COMMANDS:
        assert f"    {command} " in told


def test_every_command_explains_itself(project: Project, capsys: pytest.CaptureFixture[str]):
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            project.run(command, "--help")
        assert len(capsys.readouterr().out.splitlines()) > 6


def test_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sluice_dist", "--help"], capture_output=True, check=True
    )
    assert b"sluice-dist checkout" in done.stdout


def test_unknown_store_names_those_there_are(project: Project, capsys) -> None:
    assert project.run("show", "tory") == 1
    told = capsys.readouterr().err
    assert "'tory'" in told
    assert "choose one of: toy" in told


def test_unknown_version_names_those_there_are(project: Project, capsys) -> None:
    assert project.run("show", "toy/9") == 1
    assert "choose one of: 1.0" in capsys.readouterr().err


def test_a_root_that_is_no_checkout_is_refused(tmp_path, capsys) -> None:
    assert Project(tmp_path / "home", tmp_path).run("list") == 1
    assert "is not a checkout" in capsys.readouterr().err


def test_default_version_is_the_newest_of_the_oldest_major(project: Project, capsys) -> None:
    for version in ("1.9", "1.10", "2.0"):
        project.add_upstream(version)
    assert project.run("list", "-o", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["version"] for row in rows] == ["1.0", "1.9", "1.10", "2.0"]
    assert [row["version"] for row in rows if row["default"]] == ["1.10"]


def test_show_labels_patched_and_stock(series: Project, capsys) -> None:
    series.run("show", "toy", "-o", "json")
    patched = json.loads(capsys.readouterr().out)
    series.run("show", "toy", "--variant", "stock", "-o", "json")
    stock = json.loads(capsys.readouterr().out)
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert stock["labels"]["dev.sluice.series.sha256"] == empty
    assert patched["labels"]["dev.sluice.series.sha256"] != empty
    assert patched["source_sha256"] == stock["source_sha256"]
    assert (patched["prefix"], stock["prefix"]) == (
        "/opt/sluice/toy/1.0",
        "/opt/sluice/toy/1.0-stock",
    )


def test_plugin_hash_follows_path_and_content(series: Project) -> None:
    plugin = series.root / "plugins" / "toy"
    plugin.mkdir(parents=True)
    (plugin / "a.c").write_text("int a;\n")
    first = series.release().plugin_sha256
    (plugin / "a.c").rename(plugin / "b.c")
    second = series.release().plugin_sha256
    (plugin / "b.c").write_text("int b;\n")
    assert len({first, second, series.release().plugin_sha256}) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_plugin_hash_leaves_ignored_files_out_whoever_owns_the_checkout(series: Project) -> None:
    plugin = series.root / "plugins" / "toy"
    plugin.mkdir(parents=True)
    (plugin / "a.c").write_text("int a;\n")
    subprocess.run(["git", "init", "--quiet", series.root], check=True)
    (series.root / ".gitignore").write_text("*.o\n")
    expected = series.release().plugin_sha256
    (plugin / "a.o").write_text("object\n")
    subprocess.run(["chown", "--recursive", "nobody", series.root], check=True)
    assert series.release().plugin_sha256 == expected


def test_plugin_hash_leaves_out_what_is_not_shipped(series: Project) -> None:
    plugin = series.root / "plugins" / "toy"
    (plugin / "t").mkdir(parents=True)
    (plugin / "a.c").write_text("int a;\n")
    subprocess.run(["git", "init", "--quiet", series.root], check=True)
    (plugin / ".gitattributes").write_text(".gitattributes export-ignore\nt/** export-ignore\n")
    expected = series.release().plugin_sha256
    (plugin / "t" / "001_hold.pl").write_text("ok 1;\n")
    assert series.release().plugin_sha256 == expected
    (plugin / "b.c").write_text("int b;\n")
    assert series.release().plugin_sha256 != expected


def test_versions_are_ordered_by_number() -> None:
    assert sorted(["18.6", "17.11", "17.9"], key=version_key) == ["17.9", "17.11", "18.6"]
