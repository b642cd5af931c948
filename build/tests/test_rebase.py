import hashlib
import json
import shutil
import tomllib

from conftest import FILES, HOOKED_GREETING, MESSAGE, PROGRAM, Project, user_git, write_archive
from debian_repository import add_source, publish

TEMPLATE = """\
name = "toy"
version = "${version}"
licence = "Apache-2.0"
archive = "toy-${version}.tar.gz"
sha256 = "${sha256}"

[[source]]
kind = "url"
url = "SERVED/toy-${version}.tar.gz"

[[source]]
kind = "debian-source"
package = "toy"
file = "toy_${version}.orig.tar.gz"
"""
SECOND = MESSAGE.replace("gives the greeting", "ends the program")


def upstream_releases(project: Project, version: str, **changes: str) -> str:
    """Release VERSION of toy with CHANGES (file of src: new text); gives the archive's sha256."""
    files = FILES | {f"src/{stem}.c": text for stem, text in changes.items()}
    archive = write_archive(project.served, version, files)
    template = TEMPLATE.replace("SERVED", project.served.as_uri())
    (project.root / "build" / "stores" / "toy" / "upstream.toml.in").write_text(template)
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def rebase(project: Project, capsys, *options: str) -> tuple[int, dict[str, dict]]:
    capsys.readouterr()
    status = project.run("rebase", "toy/1.0", "2.0", *options, "-o", "json")
    patches = json.loads(capsys.readouterr().out)["patches"]
    return status, {patch["patch"][:4]: patch for patch in patches}


def test_a_series_that_still_applies_is_clean(series: Project, capsys) -> None:
    sha256 = upstream_releases(series, "2.0", main=PROGRAM.replace("return 0", "return 2"))
    status, patches = rebase(series, capsys, "--sha256", sha256)
    assert status == 0
    assert patches["0001"]["state"] == "clean"
    assert series.run("export", "toy/2.0") == 0
    assert series.run("lint", "toy/2.0") == 0
    assert "+const char *(*greeting_hook)" in series.release("toy/2.0").patch_files[0].read_text()


def test_moved_context_is_merged(series: Project, capsys) -> None:
    series.add_patch(message=SECOND, main=PROGRAM.replace("return 0", "return 1"))
    near = PROGRAM.replace("int main(void)", "int main(int argc, char **argv)")
    sha256 = upstream_releases(series, "2.0", main=near)
    status, patches = rebase(series, capsys, "--sha256", sha256)
    assert status == 0
    assert {number: patch["state"] for number, patch in patches.items()} == {
        "0001": "clean",
        "0002": "merged",
    }


def test_conflicts_are_counted_and_finished_with_plain_git(series: Project, capsys) -> None:
    series.add_patch(message=SECOND, main=PROGRAM.replace("return 0", "return 1"))
    rewritten = (
        FILES["src/greeting.c"].replace('"hello"', '"good day"').replace("(void)", "(int n)")
    )
    sha256 = upstream_releases(series, "2.0", greeting=rewritten)
    status, patches = rebase(series, capsys, "--sha256", sha256)
    assert status == 1
    assert patches["0001"]["state"] == "conflicts"
    assert patches["0001"]["conflicts"] == {"src/greeting.c": 1}
    assert patches["0002"]["state"] == "pending"
    new = series.release("toy/2.0")
    assert series.run("export", "toy/2.0") == 1
    assert "git am --continue" in capsys.readouterr().err
    (new.worktree / "src" / "greeting.c").write_text(HOOKED_GREETING.replace("hello", "good day"))
    user_git(new.worktree, "add", "--all")
    user_git(new.worktree, "am", "--continue")
    assert series.run("export", "toy/2.0") == 0
    assert series.run("lint", "toy/2.0") == 0
    assert len(new.patch_files) == 2
    assert "From: Ada Dev" in new.patch_files[0].read_text()


def test_a_deleted_file_is_a_conflict(series: Project, capsys) -> None:
    files = {name: text for name, text in FILES.items() if name != "src/greeting.c"}
    archive = write_archive(series.served, "2.0", files)
    upstream = hashlib.sha256(archive.read_bytes()).hexdigest()
    template = TEMPLATE.replace("SERVED", series.served.as_uri())
    (series.root / "build" / "stores" / "toy" / "upstream.toml.in").write_text(template)
    status, patches = rebase(series, capsys, "--sha256", upstream)
    assert status == 1
    assert patches["0001"]["conflicts"] == {"src/greeting.c": 1}


def test_the_hash_is_found_in_debians_index(series: Project, debian, capsys) -> None:
    sha256 = upstream_releases(series, "2.0")
    content = (series.served / "toy-2.0.tar.gz").read_bytes()
    for name in ("unstable", "sid"):
        shutil.rmtree(debian / "dists" / name)
    add_source(debian, "unstable", "toy", "2.0", content)
    publish(debian, "unstable", "sid")
    status, _ = rebase(series, capsys)
    assert status == 0
    pin = tomllib.loads((series.release("toy/2.0").folder / "upstream.toml").read_text())
    assert pin["sha256"] == sha256


def test_without_a_hash_nothing_is_pinned(series: Project, debian, capsys) -> None:
    upstream_releases(series, "2.0")
    assert series.run("rebase", "toy/1.0", "2.0") == 1
    assert "--sha256" in capsys.readouterr().err
    assert not (series.root / "patches" / "toy" / "2.0").exists()


def test_a_series_that_is_there_is_left_alone(series: Project, capsys) -> None:
    sha256 = upstream_releases(series, "2.0")
    rebase(series, capsys, "--sha256", sha256)
    series.run("export", "toy/2.0")
    assert series.run("rebase", "toy/1.0", "2.0") == 1
    assert "has a series already" in capsys.readouterr().err


def test_another_hash_than_the_pinned_one_is_refused(series: Project, capsys) -> None:
    sha256 = upstream_releases(series, "2.0")
    rebase(series, capsys, "--sha256", sha256)
    other = "0" * 64
    assert series.run("rebase", "toy/1.0", "2.0", "--sha256", other) == 1
    told = capsys.readouterr().err
    assert sha256 in told
    assert other in told


def test_a_worktree_that_is_there_is_left_alone(series: Project, capsys) -> None:
    sha256 = upstream_releases(series, "2.0")
    rebase(series, capsys, "--sha256", sha256)
    assert series.run("rebase", "toy/1.0", "2.0") == 1
    assert "sluice-dist export toy/2.0" in capsys.readouterr().err


def test_a_lower_bound_is_kept(series: Project, capsys) -> None:
    pin = series.release().folder / "upstream.toml"
    pin.write_text("maximum_changed_lines = 40\n" + pin.read_text())
    sha256 = upstream_releases(series, "2.0")
    rebase(series, capsys, "--sha256", sha256)
    assert series.release("toy/2.0").upstream.maximum_changed_lines == 40
