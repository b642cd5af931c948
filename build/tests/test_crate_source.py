"""A store whose source is a crate, by a cargo of one script."""

from pathlib import Path

import pytest
from conftest import Project, pin_text

# Does what `cargo info` does, from a folder: it puts the crate into cargo's cache, and shows it.
CARGO = """\
#!/bin/sh
[ "$1" = info ] && [ "$2" = --color=never ] || exit 2
crate=${3%%@*}-${3##*@}.crate
if [ ! -f "SERVED/$crate" ]; then
    echo "    Updating an index" >&2
    echo "error: could not find \\`$3\\` in registry" >&2
    exit 101
fi
mkdir -p "$CARGO_HOME/registry/cache/index-1a2b"
cp "SERVED/$crate" "$CARGO_HOME/registry/cache/index-1a2b/"
echo "${3%%@*}"
"""
PLACE = '[[source]]\nkind = "crate"\ncrate = "toy-sys"\nversion = "0.1.0+1.0"\n'


@pytest.fixture
def crate(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crate that is published; toy 1.0 is pinned to it, and there is a cargo that has it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "cargo").write_text(CARGO.replace("SERVED", str(project.served)))
    (programs / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo-home"))
    archive = project.served / "toy-1.0.tar.gz"
    published = project.served / "toy-sys-0.1.0+1.0.crate"
    archive.rename(published)
    keys = pin_text("1.0", published).partition("[[source]]")[0]
    (project.root / "patches" / "toy" / "1.0" / "upstream.toml").write_text(keys + PLACE)
    return published


def test_fetch_gives_the_crate(project: Project, crate: Path, capsys) -> None:
    assert project.run("fetch", "toy") == 0
    cached = project.layout.archives / crate.name
    assert capsys.readouterr().out.strip() == str(cached)
    assert cached.read_bytes() == crate.read_bytes()


def test_the_source_of_a_crate_is_checked_out(project: Project, crate: Path) -> None:
    assert project.run("checkout", "toy") == 0
    assert (project.release().worktree / "src").is_dir()


def test_another_content_is_refused(project: Project, crate: Path, capsys) -> None:
    crate.write_bytes(b"another")
    assert project.run("fetch", "toy") == 1
    assert f"{crate.name} from crate toy-sys 0.1.0+1.0" in capsys.readouterr().err
    assert list(project.layout.archives.iterdir()) == []


def test_what_cargo_says_is_the_reason(project: Project, crate: Path, capsys) -> None:
    crate.unlink()
    assert project.run("fetch", "toy") == 1
    reason = "crate toy-sys 0.1.0+1.0: could not find `toy-sys@0.1.0+1.0` in registry\n"
    assert reason in capsys.readouterr().err


def test_without_cargo_the_reason_is_said(project: Project, crate, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(project.root))
    assert project.run("fetch", "toy") == 1
    assert "there is no cargo" in capsys.readouterr().err


def test_a_cargo_that_keeps_no_crate_is_told(project: Project, crate, monkeypatch, capsys) -> None:
    # As with a vendored folder in place of the registry.
    cargo = crate.parent.parent / "programs" / "cargo"
    cargo.write_text("#!/bin/sh\nexit 0\n")
    assert project.run("fetch", "toy") == 1
    assert f"has no {crate.name} below" in capsys.readouterr().err
