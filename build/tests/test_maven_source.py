"""A store whose source is the sources artifacts of Maven modules, by a Maven of one script."""

import hashlib
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import MESSAGE, Project, commit
from sluice_dist.errors import DistError
from sluice_dist.maven_module import place_in_module

GREETER = 'package org.toy;\n\nclass Greeter {\n  String greeting = "hello";\n}\n'
FILES = {
    "META-INF/MANIFEST.MF": "Manifest-Version: 1.0\n",
    "META-INF/LICENSE": "a licence\n",
    "META-INF/services/org.toy.Greeter": "org.toy.Greeter\n",
    "org/toy/Greeter.java": GREETER,
    "org/toy/generated/Page.java": "package org.toy.generated;\n",
    "pages/index.html": "<html></html>\n",
}
LAID_OUT = [
    "toy-server/src/main/java/org/toy/Greeter.java",
    "toy-server/src/main/resources/META-INF/services/org.toy.Greeter",
    "toy-server/src/main/resources/pages/index.html",
    "toy-server/target/generated-sources/org/toy/generated/Page.java",
]
# Does what dependency:copy does, from a folder.
MAVEN = """\
#!/bin/sh
for option; do
    case $option in
    -Dartifact=*) artifact=${option#*=} ;;
    -DoutputDirectory=*) folder=${option#*=} ;;
    esac
done
IFS=: read -r group name version type classifier <<END
$artifact
END
file=SERVED/$name-$version-$classifier.$type
if [ ! -f "$file" ]; then
    echo "[INFO] scanning"
    echo "[ERROR] Failed to execute goal: Could not find artifact $artifact -> [Help 1]"
    exit 1
fi
mkdir -p "$folder"
cp "$file" "$folder/"
"""
TEMPLATE = """\
name = "toy"
version = "${version}"
licence = "Apache-2.0"

[[module]]
artifact = "org.toy:toy-server:${version}"
sha256 = "${sha256}"
generated = ["org/toy/generated"]
"""


def release(project: Project, version: str, files: dict[str, str], name: str = "toy-server") -> str:
    """Publish VERSION of the module; gives the sha256 of its sources artifact."""
    jar = project.served / f"{name}-{version}-sources.jar"
    with zipfile.ZipFile(jar, "w") as opened:
        for path, text in files.items():
            opened.writestr(zipfile.ZipInfo(path, (2020, 1, 22, 15, 10, 0)), text)
    return hashlib.sha256(jar.read_bytes()).hexdigest()


def pin(project: Project, version: str, sha256: str) -> None:
    text = TEMPLATE.replace("${version}", version).replace("${sha256}", sha256)
    folder = project.root / "patches" / "toy" / version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "upstream.toml").write_text(text)


@pytest.fixture
def module(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The checkout with toy 1.0 as a Maven module, and a Maven that has it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "mvn").write_text(MAVEN.replace("SERVED", str(project.served)))
    (programs / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    pin(project, "1.0", release(project, "1.0", FILES))
    (project.root / "build" / "stores" / "toy" / "upstream.toml.in").write_text(TEMPLATE)
    return project


def add_patch(project: Project) -> None:
    assert project.run("checkout", "toy/1.0") == 0
    worktree = project.release("toy/1.0").worktree
    greeter = worktree / "toy-server/src/main/java/org/toy/Greeter.java"
    greeter.write_text(greeter.read_text().replace("hello", "hello, hook"))
    commit(worktree, MESSAGE)
    assert project.run("export", "toy/1.0") == 0


def test_a_module_is_laid_out_as_in_upstreams_repository(module: Project) -> None:
    assert module.run("checkout", "toy") == 0
    command = ["git", "-C", str(module.release().worktree), "ls-files"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert listed.split() == LAID_OUT


def test_the_same_artifact_gives_the_same_commit(module: Project) -> None:
    def commit_of_source() -> str:
        assert module.run("checkout", "toy") == 0
        command = ["git", "-C", str(module.release().worktree), "rev-parse", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    first = commit_of_source()
    subprocess.run(["rm", "-rf", module.layout.work], check=True)
    assert commit_of_source() == first


def test_a_series_on_a_module_is_exported_and_linted(module: Project) -> None:
    add_patch(module)
    (patch,) = module.release().patch_files
    assert "+++ b/toy-server/src/main/java/org/toy/Greeter.java" in patch.read_text()
    assert module.run("lint", "toy") == 0


def test_fetch_gives_the_artifact(module: Project, capsys) -> None:
    assert module.run("fetch", "toy") == 0
    cached = module.layout.archives / "toy-server-1.0-sources.jar"
    assert capsys.readouterr().out.strip() == str(cached)
    assert cached.read_bytes() == (module.served / cached.name).read_bytes()


def test_another_content_is_refused(module: Project, capsys) -> None:
    pin(module, "1.0", "0" * 64)
    assert module.run("fetch", "toy") == 1
    assert "sha256 expected " + "0" * 64 in capsys.readouterr().err
    assert list(module.layout.archives.iterdir()) == []


def test_what_maven_says_is_the_reason(module: Project, capsys) -> None:
    (module.served / "toy-server-1.0-sources.jar").unlink()
    assert module.run("fetch", "toy") == 1
    told = capsys.readouterr().err
    artifact = "org.toy:toy-server:1.0:jar:sources"
    reason = f"Failed to execute goal: Could not find artifact {artifact}\n"
    assert f"Maven artifact {artifact}: {reason}" in told
    assert "Maven's settings" in told


def test_without_maven_the_reason_is_said(module: Project, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(module.root))
    assert module.run("fetch", "toy") == 1
    assert "there is no mvn" in capsys.readouterr().err


def test_a_series_is_rebased_with_the_hash_that_maven_has(module: Project, capsys) -> None:
    add_patch(module)
    moved = FILES | {"org/toy/Greeter.java": GREETER.replace("class", "// Greets.\nclass")}
    sha256 = release(module, "2.0", moved)
    capsys.readouterr()
    assert module.run("rebase", "toy/1.0", "2.0") == 0
    assert capsys.readouterr().out.startswith(("clean", "merged"))
    new = module.release("toy/2.0")
    (pinned,) = tomllib.loads((new.folder / "upstream.toml").read_text())["module"]
    assert pinned["sha256"] == sha256
    assert module.run("export", "toy/2.0") == 0
    assert module.run("lint", "toy/2.0") == 0


def test_several_modules_have_a_hash_each(module: Project) -> None:
    other = '\n[[module]]\nartifact = "org.toy:toy-common:${version}"\n'
    other += 'sha256 = "${sha256_toy_common}"\n'
    template = TEMPLATE.replace("${sha256}", "${sha256_toy_server}") + other
    (module.root / "build" / "stores" / "toy" / "upstream.toml.in").write_text(template)
    add_patch(module)
    expected = [
        release(module, "2.0", FILES),
        release(module, "2.0", {"org/toy/Common.java": "package org.toy;\n"}, "toy-common"),
    ]
    assert module.run("rebase", "toy/1.0", "2.0") == 0
    new = module.release("toy/2.0")
    assert [archive.sha256 for archive in new.upstream.archives] == expected
    assert (new.worktree / "toy-common/src/main/java/org/toy/Common.java").exists()
    assert (new.worktree / "toy-server/src/main/java/org/toy/Greeter.java").exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "org/../../x.java"])
def test_a_path_out_of_the_module_is_refused(name: str) -> None:
    with pytest.raises(DistError, match="not upstream's"):
        place_in_module(name, ())
