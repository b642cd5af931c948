import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Project, pin_text

UNREACHABLE = "http://127.0.0.1:9/toy-1.0.tar.gz"


def set_places(project: Project, *places: str, **changes: str) -> None:
    """Replace the [[source]] entries of toy 1.0."""
    archive = project.served / "toy-1.0.tar.gz"
    keys = pin_text("1.0", archive, **changes).partition("[[source]]")[0]
    entries = "".join(f"[[source]]\n{place}\n" for place in places)
    (project.root / "patches" / "toy" / "1.0" / "upstream.toml").write_text(keys + entries)


def url(address: str) -> str:
    return f'kind = "url"\nurl = "{address}"'


def cached(project: Project) -> Path:
    return project.layout.archives / "toy-1.0.tar.gz"


def test_the_first_place_that_has_it_is_used(project: Project, address: str, capsys) -> None:
    good = f"{address}/toy-1.0.tar.gz"
    set_places(project, url(UNREACHABLE), url(f"{address}/absent.tar.gz"), url(good), url("x:"))
    assert project.run("fetch", "toy") == 0
    told = capsys.readouterr()
    assert told.out.strip() == str(cached(project))
    assert told.err.count("fetching") == 3
    assert cached(project).read_bytes() == (project.served / "toy-1.0.tar.gz").read_bytes()


@pytest.mark.parametrize("broken", ["chunk", "status"])
def test_after_a_broken_answer_comes_the_next_place(
    project: Project, address: str, capsys, broken: str
) -> None:
    set_places(project, url(f"{address}/broken/{broken}"), url(f"{address}/toy-1.0.tar.gz"))
    assert project.run("fetch", "toy") == 0
    assert "not to be had there: " in capsys.readouterr().err
    assert cached(project).read_bytes() == (project.served / "toy-1.0.tar.gz").read_bytes()


def test_what_is_cached_needs_no_place(project: Project) -> None:
    assert project.run("fetch", "toy") == 0
    set_places(project, url(UNREACHABLE))
    assert project.run("fetch", "toy") == 0


def test_a_wrong_checksum_names_both_and_keeps_nothing(project: Project, address, capsys) -> None:
    set_places(project, url(f"{address}/toy-1.0.tar.gz"), sha256="0" * 64)
    assert project.run("fetch", "toy") == 1
    told = capsys.readouterr().err
    assert "sha256 expected " + "0" * 64 in told
    right = hashlib.sha256((project.served / "toy-1.0.tar.gz").read_bytes()).hexdigest()
    assert f"sha256 got      {right}" in told
    assert "what to do" in told
    assert list(project.layout.archives.iterdir()) == []


def test_a_damaged_cached_file_is_an_error(project: Project, capsys) -> None:
    project.run("fetch", "toy")
    cached(project).write_bytes(b"damaged")
    assert project.run("fetch", "toy") == 1
    assert f"delete {cached(project)}" in capsys.readouterr().err


def test_if_no_place_has_it_each_is_named_with_its_reason(project: Project, address, capsys):
    set_places(project, url(UNREACHABLE), url(f"{address}/absent.tar.gz"))
    assert project.run("fetch", "toy") == 1
    told = capsys.readouterr().err.partition("no place has")[2]
    assert f"{UNREACHABLE}: [Errno 111] Connection refused" in told
    assert "absent.tar.gz: File not found" in told or "absent.tar.gz: Not Found" in told
    assert f"put the file there yourself, as {cached(project)}" in told


def test_an_unknown_kind_of_place_is_an_error(project: Project, capsys) -> None:
    set_places(project, 'kind = "tape"')
    assert project.run("fetch", "toy") == 1
    assert "known are: crate, debian-source, maven, url" in capsys.readouterr().err


def debian_source(file: str = "toy_1.0.orig.tar.gz") -> str:
    return f'kind = "debian-source"\npackage = "toy"\nfile = "{file}"'


def test_a_debian_suite_that_has_the_file_is_found(project: Project, debian, capsys) -> None:
    set_places(project, url(UNREACHABLE), debian_source())
    assert project.run("fetch", "toy") == 0
    told = capsys.readouterr().err
    assert [suite for suite in ("bookworm", "stable", "testing", "unstable") if suite in told] == [
        "bookworm",
        "stable",
        "testing",
    ]
    assert cached(project).read_bytes() == (project.served / "toy-1.0.tar.gz").read_bytes()


@pytest.fixture
def cache_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cache on another file system than the checkout, as where homes have one of their own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if Path(folder).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("the tests have one file system")
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        yield


@pytest.mark.usefixtures("debian", "cache_elsewhere")
def test_a_debian_file_gets_into_a_cache_on_another_file_system(project: Project) -> None:
    set_places(project, debian_source())
    assert project.run("fetch", "toy") == 0
    assert cached(project).read_bytes() == (project.served / "toy-1.0.tar.gz").read_bytes()


def test_a_debian_file_of_that_name_with_other_content_is_not_taken(
    project: Project, debian: Path, capsys
) -> None:
    set_places(project, debian_source("toy_1.1.orig.tar.gz"))
    assert project.run("fetch", "toy") == 1
    told = capsys.readouterr().err
    newer = hashlib.sha256(b"a newer one").hexdigest()
    assert f"unstable: sha256 {newer}" in told
    assert "testing: not there" in told
    assert not cached(project).exists()


def test_an_archive_of_another_origin_is_not_asked(project: Project, debian, capsys) -> None:
    for release in debian.glob("dists/*/Release"):
        release.write_text(release.read_text().replace("Origin: Debian", "Origin: Other"))
    set_places(project, debian_source())
    assert project.run("fetch", "toy") == 1
    assert "origin is 'Other', not Debian" in capsys.readouterr().err


def test_without_a_debian_archive_the_reason_is_said(project: Project, debian, capsys) -> None:
    (project.root / "sources.list.d" / "debian.sources").unlink()
    set_places(project, debian_source())
    assert project.run("fetch", "toy") == 1
    assert "configured with no Debian archive" in capsys.readouterr().err


def test_hooks_of_the_machines_apt_do_not_run(project: Project, debian, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    configuration = project.root / "machine-apt.conf"
    hooks = ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")
    configuration.write_text(
        configuration.read_text()
        + "".join(f'APT::Update::{hook} {{ "touch {ran}"; }};\n' for hook in hooks)
    )
    set_places(project, debian_source())
    assert project.run("fetch", "toy") == 0
    assert not ran.exists()
