"""A store that is laid out from Maven artifacts; Maven itself is a script that hands out files."""

import json
import os
from pathlib import Path

import pytest
from conftest import Project
from sluice_dist import distribution
from sluice_dist.distribution import add_jars
from sluice_dist.errors import DistError
from sluice_dist.images.sbom import distribution_components, document
from sluice_dist.packages.debian import package_inputs

RECIPE = """\
[distribution]
folder = "distribution"
"""
COMPILED_TOO = """\
[compile]
script = "compile.sh"

[distribution]
folder = "distribution"
"""
COMPILE = """\
#!/bin/sh
mkdir -p "$DESTDIR$PREFIX/lib" && echo compiled >"$DESTDIR$PREFIX/lib/${JAR:-core-1.jar}"
"""
# Fails as Maven does when an artifact is not what the lock file says, if LOCK_BROKEN is set.
MAVEN = """\
#!/bin/sh
echo run >>"$MAVEN_RUNS"
[ -z "$LOCK_BROKEN" ] || { echo "[ERROR] wrong checksum of core-1.jar"; exit 1; }
for argument; do
    case $argument in
    -Ddistribution.lib=*) lib=${argument#*=} ;;
    -Ddistribution.tree=*) tree=${argument#*=} ;;
    esac
done
mkdir -p "$lib" "$tree/share"
echo fetched >"$lib/core-1.jar"
echo fetched >"$lib/logging-2.jar"
echo page >"$tree/share/page.html"
"""
LOCK = {
    "dependencies": [
        {
            "groupId": "org.toy",
            "artifactId": "core",
            "version": "1",
            "scope": "compile",
            "integrity": "sha512:AAEC",
        },
        {
            "groupId": "dev.sluice.toy",
            "artifactId": "own",
            "version": "1",
            "scope": "compile",
            "integrity": "ignored",
        },
        {
            "groupId": "org.toy",
            "artifactId": "only-for-tests",
            "version": "1",
            "scope": "test",
            "integrity": "sha512:AAEC",
        },
    ]
}


@pytest.fixture
def distributed(series: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The checkout with a distribution for the made-up store, and nothing to compile."""
    folder = series.layout.recipe("toy")
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "compile.sh").write_text(COMPILE)
    (folder / "compile.sh").chmod(0o755)
    launcher = folder / "distribution" / "tree" / "bin" / "toy"
    launcher.parent.mkdir(parents=True)
    launcher.write_text("#!/bin/sh\necho hello\n")
    launcher.chmod(0o755)
    (folder / "distribution" / "pom.xml").write_text("<project/>\n")
    (folder / "distribution" / "dependencies-lock.json").write_text(json.dumps(LOCK))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "mvn").write_text(MAVEN)
    (programs / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("MAVEN_RUNS", str(tmp_path / "runs"))
    return series


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().splitlines())


def test_jars_and_tree_are_laid_out(distributed: Project):
    assert distributed.run("compile", "toy") == 0
    prefix = distributed.release().staged_prefix
    assert sorted(file.name for file in (prefix / "lib").iterdir()) == [
        "core-1.jar",
        "logging-2.jar",
    ]
    assert (prefix / "share" / "page.html").read_text() == "page\n"
    assert os.access(prefix / "bin" / "toy", os.X_OK)


def test_both_variants_have_the_same_jars(distributed: Project):
    for variant in ("patched", "stock"):
        assert distributed.run("compile", "toy", "--variant", variant) == 0
        prefix = distributed.release("toy", variant).staged_prefix
        assert (prefix / "lib" / "core-1.jar").read_text() == "fetched\n"


def test_a_compiled_jar_takes_the_place_of_its_artifact(distributed: Project):
    (distributed.layout.recipe("toy") / "recipe.toml").write_text(COMPILED_TOO)
    assert distributed.run("compile", "toy") == 0
    lib = distributed.release().staged_prefix / "lib"
    assert (lib / "core-1.jar").read_text() == "compiled\n"
    assert (lib / "logging-2.jar").read_text() == "fetched\n"


def test_a_compiled_jar_without_artifact_is_refused(distributed: Project, monkeypatch, capsys):
    (distributed.layout.recipe("toy") / "recipe.toml").write_text(COMPILED_TOO)
    monkeypatch.setenv("JAR", "core-2.jar")
    assert distributed.run("compile", "toy") != 0
    assert "core-2.jar, which replaces no locked artifact" in capsys.readouterr().err


def test_a_folder_without_jars_is_refused(tmp_path: Path):
    with pytest.raises(DistError, match="copied no jar"):
        add_jars(tmp_path / "absent", tmp_path / "lib")


def test_what_maven_says_is_shown(distributed: Project, monkeypatch, capsys):
    monkeypatch.setenv("LOCK_BROKEN", "1")
    assert distributed.run("compile", "toy") != 0
    assert "wrong checksum of core-1.jar" in capsys.readouterr().err
    assert not distributed.release().stage.exists()


def test_nothing_happens_if_nothing_changed(distributed: Project, tmp_path: Path):
    distributed.run("compile", "toy")
    distributed.run("compile", "toy")
    assert runs(tmp_path) == 1
    launcher = distributed.layout.recipe("toy") / "distribution" / "tree" / "bin" / "toy"
    launcher.write_text("#!/bin/sh\necho good day\n")
    distributed.run("compile", "toy")
    assert runs(tmp_path) == 2
    staged = distributed.release().staged_prefix / "bin" / "toy"
    assert "good day" in staged.read_text()


def test_it_is_laid_out_again_when_this_tool_does_so_otherwise(
    distributed: Project, tmp_path: Path, monkeypatch
):
    distributed.run("compile", "toy")
    (tmp_path / "distribution.py").write_text("# Another order.\n")
    monkeypatch.setattr(distribution, "__file__", str(tmp_path / "distribution.py"))
    distributed.run("compile", "toy")
    assert runs(tmp_path) == 2


def test_a_build_for_upstreams_tests_has_none(distributed: Project, tmp_path: Path):
    (distributed.layout.recipe("toy") / "recipe.toml").write_text(COMPILED_TOO)
    assert distributed.run("compile", "toy", "--testing") == 0
    assert not (tmp_path / "runs").exists()


def test_the_distribution_is_an_input_of_the_packages(distributed: Project):
    folder = distributed.layout.recipe("toy")
    (folder / "image").mkdir()
    shared = folder.parent / "for_several_stores.sh"
    shared.touch()
    inputs = package_inputs(distributed.release())
    assert folder / "distribution" in inputs
    assert shared in inputs
    assert folder / "image" not in inputs


def test_the_bill_of_materials_has_the_shipped_artifacts(distributed: Project):
    components = distribution_components(distributed.release())
    assert [component.purl for component in components] == ["pkg:maven/org.toy/core@1"]
    packages = json.loads(document("toy", components, 0))["packages"]
    assert packages[0]["checksums"] == [{"algorithm": "SHA512", "checksumValue": "000102"}]


def test_a_lock_of_another_algorithm_is_refused(distributed: Project):
    lock = distributed.layout.recipe("toy") / "distribution" / "dependencies-lock.json"
    lock.write_text(lock.read_text().replace("sha512", "md5"))
    with pytest.raises(DistError, match="the lock file has md5"):
        distribution_components(distributed.release())
