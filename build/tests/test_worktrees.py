import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HOOKED_GREETING, MESSAGE, PROGRAM, Project, commit, user_git
from sluice_dist.release import Release


def content(release: Release) -> dict[str, bytes]:
    return {patch.name: patch.read_bytes() for patch in release.patch_files}


def test_checkout_has_one_commit_per_patch_on_the_pristine_source(series: Project) -> None:
    second = MESSAGE.replace("gives the greeting", "counts")
    series.add_patch(message=second, main=PROGRAM.replace("return 0", "return 1"))
    worktree = series.release().worktree
    subprocess.run(["rm", "-rf", str(series.layout.work)], check=True)
    assert series.run("checkout", "toy") == 0
    titles = user_git(worktree, "log", "--format=%s", "upstream/1.0..HEAD").splitlines()
    assert titles == ["toy: add a hook that counts", "toy: add a hook that gives the greeting"]
    who = user_git(worktree, "log", "-1", "--format=%an <%ae> %aI|%cn <%ce> %cI").strip()
    author, committer = who.split("|")
    assert author == committer
    assert author.startswith("Ada Dev <ada@example.org>")


def test_the_pristine_commit_holds_ignored_files_too(project: Project) -> None:
    project.add_upstream("1.1", {".gitignore": "*.o\n", "kept.o": "object\n"})
    project.run("checkout", "toy/1.1")
    assert (project.release("toy/1.1").worktree / "kept.o").read_text() == "object\n"


def test_export_of_a_checkout_changes_no_byte(series: Project, capsys) -> None:
    before = content(series.release())
    subprocess.run(["rm", "-rf", str(series.layout.work)], check=True)
    series.run("checkout", "toy")
    capsys.readouterr()
    assert series.run("export", "toy") == 0
    assert content(series.release()) == before
    assert "wrote" not in capsys.readouterr().out


HOSTILE = """\
[format]
    signature = someone
    noprefix = true
    numbered = true
    subjectPrefix = RFC
    attach = true
[diff]
    noprefix = true
    algorithm = patience
    context = 9
    mnemonicPrefix = true
[core]
    autocrlf = true
    abbrev = 5
[commit]
    gpgSign = true
"""


def test_the_developers_git_settings_change_no_byte(series: Project, tmp_path: Path) -> None:
    before = content(series.release())
    (tmp_path / "home" / ".gitconfig").write_text(HOSTILE)
    subprocess.run(["rm", "-rf", str(series.layout.work)], check=True)
    series.run("checkout", "toy")
    series.run("export", "toy")
    assert content(series.release()) == before


def test_upstreams_attributes_change_no_byte(project: Project) -> None:
    files = {
        ".gitattributes": "*.c text eol=crlf diff=cpp ident\n",
        "src/a.c": "int a; /* $Id$ */\n",
    }
    project.add_upstream("1.1", files)
    project.add_patch("toy/1.1", a="int a; /* $Id$ */\nint b;\n")
    assert b"\r" not in next(iter(content(project.release("toy/1.1")).values()))
    assert project.run("lint", "toy/1.1") == 0


def test_an_amended_commit_is_exported(series: Project) -> None:
    worktree = series.release().worktree
    (worktree / "README").write_text("toy, hooked\n")
    commit(worktree, MESSAGE.replace("gives", "overrides"), "--amend")
    assert series.run("export", "toy") == 0
    (patch,) = series.release().patch_files
    assert patch.name == "0001-toy-add-a-hook-that-overrides-the-greeting.patch"
    assert "+toy, hooked" in patch.read_text()


def test_a_dropped_commit_is_removed(series: Project) -> None:
    user_git(series.release().worktree, "reset", "--quiet", "--hard", "upstream/1.0")
    assert series.run("export", "toy") == 0
    assert series.release().patch_files == []


def test_checkout_leaves_changes_alone(series: Project, capsys) -> None:
    main = series.release().worktree / "src" / "main.c"
    main.write_text("changed\n")
    assert series.run("checkout", "toy") == 1
    told = capsys.readouterr().err
    assert "src/main.c" in told
    assert "--discard" in told
    assert main.read_text() == "changed\n"
    assert series.run("checkout", "toy", "--discard") == 0
    assert main.read_text() == PROGRAM


def test_checkout_leaves_commits_alone_that_are_not_exported(series: Project, capsys) -> None:
    worktree = series.release().worktree
    (worktree / "README").write_text("more\n")
    commit(worktree, "toy: more")
    assert series.run("checkout", "toy") == 1
    assert "sluice-dist export toy/1.0" in capsys.readouterr().err
    assert (worktree / "README").read_text() == "more\n"
    series.run("export", "toy")
    assert series.run("checkout", "toy") == 0


def test_checkout_brings_a_clean_worktree_up_to_date(series: Project) -> None:
    release = series.release()
    (release.patch_files[0]).unlink()
    assert series.run("checkout", "toy") == 0
    assert "greeting_hook" not in (release.worktree / "src" / "greeting.c").read_text()


def test_export_refuses_changes_that_are_not_committed(series: Project, capsys) -> None:
    (series.release().worktree / "README").write_text("more\n")
    before = content(series.release())
    assert series.run("export", "toy") == 1
    assert "commit them" in capsys.readouterr().err
    assert content(series.release()) == before


def test_export_refuses_an_unfinished_rebase(series: Project, capsys) -> None:
    worktree = series.release().worktree
    user_git(worktree, "checkout", "--quiet", "-b", "other", "upstream/1.0")
    (worktree / "src" / "greeting.c").write_text("other\n")
    commit(worktree, "toy: other")
    with pytest.raises(subprocess.CalledProcessError):
        user_git(worktree, "rebase", "patched/1.0")
    assert series.run("export", "toy") == 1
    assert "middle of a rebase" in capsys.readouterr().err
    assert series.run("checkout", "toy", "--discard") == 0
    assert (worktree / "src" / "greeting.c").read_text() == HOOKED_GREETING


def test_export_refuses_another_history(series: Project, capsys) -> None:
    worktree = series.release().worktree
    user_git(worktree, "checkout", "--quiet", "--orphan", "elsewhere")
    commit(worktree, "toy: from nowhere")
    assert series.run("export", "toy") == 1
    assert "upstream/1.0" in capsys.readouterr().err


def test_export_refuses_a_merge(series: Project, capsys) -> None:
    worktree = series.release().worktree
    user_git(worktree, "checkout", "--quiet", "-b", "side", "upstream/1.0")
    (worktree / "README").write_text("side\n")
    commit(worktree, "toy: side")
    user_git(worktree, "checkout", "--quiet", "patched/1.0")
    user_git(worktree, "merge", "--quiet", "--no-edit", "side")
    assert series.run("export", "toy") == 1
    assert "holds a merge" in capsys.readouterr().err


def test_export_without_a_worktree_says_what_to_do(project: Project, capsys) -> None:
    assert project.run("export", "toy") == 1
    assert "sluice-dist checkout toy/1.0" in capsys.readouterr().err


def test_stock_is_the_pristine_source(series: Project) -> None:
    assert series.run("checkout", "toy", "--variant", "stock") == 0
    stock = series.release(variant="stock").worktree
    assert user_git(stock, "rev-list", "--count", "upstream/1.0..HEAD").strip() == "0"


def test_a_worktree_whose_repository_is_gone_is_left_alone(series: Project, capsys) -> None:
    worktree = series.release().worktree
    shutil.rmtree(worktree.parent / "repository.git")
    assert series.run("checkout", "toy") == 1
    assert f"{worktree} is no worktree" in capsys.readouterr().err
    assert (worktree / "src" / "greeting.c").read_text() == HOOKED_GREETING
