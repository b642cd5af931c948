import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HOOKED_GREETING, Project, user_git
from sluice_dist import toolchain

RECIPE = """\
[compile]
script = "compile.sh"

[plugin]
script = "plugin.sh"

[test]
script = "test.sh"
user = "nobody"

[test.modes]
absent = "the plug-in is not loaded"
loaded = "the plug-in is loaded"

[test.suites.basic]
description = "the program runs"

[test.suites.basic-fast]
description = "a part of it"
part_of = "basic"

[test.suites.plugin]
description = "the plug-in's own"
stock = false
"""
COMPILE = """\
#!/bin/sh
set -e
echo "compiling $VERSION $VARIANT $TESTING" && echo run >>"$BUILD/../runs"
cd "$BUILD"
gcc -g -o toy "$SRC/src/main.c" "$SRC/src/greeting.c"
mkdir -p "$DESTDIR$PREFIX/bin"
cp toy "$DESTDIR$PREFIX/bin/toy"
"""
PLUGIN = """\
#!/bin/sh
set -e
"$STAGED_PREFIX/bin/toy" >/dev/null
mkdir -p "$DESTDIR$PREFIX/lib"
cp "$PLUGIN_SRC"/*.txt "$DESTDIR$PREFIX/lib/"
"""
TEST = """\
#!/bin/sh
cd "$BUILD"
echo "t/001_$SUITE.pl .."
[ "$(./toy)" = hello ] && echo "ok 1 - says hello" || echo "not ok 1 - says hello"
[ "$(id -u)" != 0 ] && echo "ok 2 - is not root" || echo "not ok 2 - is not root"
touch "$TEST_FOLDER/written" && echo "ok 3 - may write" || echo "not ok 3 - may write"
[ -z "$SAY_MORE" ] || [ "$VARIANT" = stock ] || echo "ok 4 - $SAY_MORE"
[ "$SUITE" != plugin ] || grep -q hook "$PLUGIN_SRC/hook.txt" && echo "ok 5" || echo "not ok 5"
exit "${END:-0}"
"""


@pytest.fixture
def recipe(series: Project, tmp_path: Path) -> Project:
    """The checkout with a recipe that really compiles, and a plug-in."""
    # The user that the tests run as has to get there.
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    folder = series.root / "build" / "stores" / "toy"
    (folder / "recipe.toml").write_text(RECIPE)
    for name, text in (("compile.sh", COMPILE), ("plugin.sh", PLUGIN), ("test.sh", TEST)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    plugin = series.root / "plugins" / "toy"
    plugin.mkdir(parents=True)
    (plugin / "hook.txt").write_text("hook\n")
    return series


def staged(project: Project, variant: str = "patched") -> Path:
    return project.release(variant=variant).staged_prefix


def runs(project: Project) -> int:
    return len((project.release().build / "runs").read_text().splitlines())


def test_both_variants_are_staged_and_run_in_place(recipe: Project, capsys) -> None:
    for variant in ("patched", "stock"):
        capsys.readouterr()
        assert recipe.run("compile", "toy", "--variant", variant) == 0
        assert capsys.readouterr().out.strip() == str(staged(recipe, variant))
        done = subprocess.run([staged(recipe, variant) / "bin" / "toy"], capture_output=True)
        assert done.stdout == b"hello\n"
    assert (staged(recipe) / "lib" / "hook.txt").exists()
    assert not (staged(recipe, "stock") / "lib").exists()
    assert b"greeting_hook" in (staged(recipe) / "bin" / "toy").read_bytes()
    assert b"greeting_hook" not in (staged(recipe, "stock") / "bin" / "toy").read_bytes()


def test_an_unchanged_release_is_not_compiled_again(recipe: Project, capsys) -> None:
    recipe.run("compile", "toy")
    capsys.readouterr()
    assert recipe.run("compile", "toy") == 0
    assert runs(recipe) == 1
    told = capsys.readouterr().err
    assert "unchanged" in told
    assert "plug-in unchanged" in told


@pytest.mark.parametrize("half", ["", '{"commit": "'])
def test_half_a_stamp_counts_as_none(recipe: Project, half: str) -> None:
    recipe.run("compile", "toy")
    build = recipe.release().build
    for name in ("objects.stamp", "store.stamp", "plugin.stamp", "staged-labels.json"):
        (build / name).write_text(half)
    assert recipe.release().staged_labels() is None
    assert recipe.run("compile", "toy") == 0
    assert runs(recipe) == 2
    assert recipe.release().staged_labels() == recipe.release().labels()


def test_a_changed_series_is_compiled_again(recipe: Project) -> None:
    recipe.run("compile", "toy")
    recipe.add_patch(greeting=HOOKED_GREETING.replace("hello", "good day"))
    recipe.run("compile", "toy")
    done = subprocess.run([staged(recipe) / "bin" / "toy"], capture_output=True)
    assert done.stdout == b"good day\n"
    assert (staged(recipe) / "lib" / "hook.txt").exists()


def test_a_changed_plug_in_replaces_its_files_alone(recipe: Project) -> None:
    recipe.run("compile", "toy")
    hook = recipe.root / "plugins" / "toy" / "hook.txt"
    hook.rename(hook.with_name("renamed.txt"))
    recipe.run("compile", "toy")
    assert runs(recipe) == 1
    assert [file.name for file in (staged(recipe) / "lib").iterdir()] == ["renamed.txt"]
    plugin_stage = recipe.release().plugin_stage
    files = [file.name for file in plugin_stage.rglob("*") if file.is_file()]
    assert files == ["renamed.txt"]


def test_what_is_staged_has_its_own_labels(recipe: Project, capsys) -> None:
    """Those of the checkout are others as soon as its plug-in is changed."""
    assert recipe.run("compile", "toy") == 0
    assert recipe.release().staged_labels() == recipe.release().labels()
    (recipe.root / "plugins" / "toy" / "hook.txt").write_text("another hook\n")
    capsys.readouterr()
    assert recipe.run("show", "toy", "-o", "json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["staged_labels"] != shown["labels"]
    (recipe.root / "build" / "stores" / "toy" / "plugin.sh").write_text("#!/bin/sh\nexit 1\n")
    assert recipe.run("compile", "toy") == 1
    assert recipe.release().staged_labels() is None


def share(project: Project) -> Path:
    """Has the plug-in be built with a folder that plug-ins share."""
    recipe = project.root / "build" / "stores" / "toy" / "recipe.toml"
    script = 'script = "plugin.sh"'
    recipe.write_text(RECIPE.replace(script, f'{script}\nshared = ["common"]'))
    return project.root / "plugins" / "common"


def test_what_plug_ins_share_is_beside_the_plug_in_that_is_built(recipe: Project) -> None:
    common = share(recipe)
    common.mkdir()
    (common / "word.txt").write_text("word\n")
    script = recipe.root / "build" / "stores" / "toy" / "plugin.sh"
    script.write_text(PLUGIN + 'cp "$PLUGIN_SRC/../common/word.txt" "$DESTDIR$PREFIX/lib"\n')
    assert recipe.run("compile", "toy") == 0
    before = recipe.release().plugin_sha256
    (common / "word.txt").write_text("another word\n")
    assert recipe.run("compile", "toy") == 0
    assert (staged(recipe) / "lib" / "word.txt").read_text() == "another word\n"
    assert recipe.release().plugin_sha256 != before


def test_what_plug_ins_share_must_be_there(recipe: Project, capsys) -> None:
    common = share(recipe)
    assert recipe.run("compile", "toy") == 1
    assert f"{common}, which is missing" in capsys.readouterr().err


def test_a_plug_in_may_bring_another_link_of_the_same_name(recipe: Project) -> None:
    """As a library with the plug-in in it, which takes the place of the store's."""
    folder = recipe.root / "build" / "stores" / "toy"
    (folder / "compile.sh").write_text(COMPILE + 'ln -s toy "$DESTDIR$PREFIX/bin/link"\n')
    link = 'mkdir "$DESTDIR$PREFIX/bin"\nln -s other "$DESTDIR$PREFIX/bin/link"\n'
    (folder / "plugin.sh").write_text(PLUGIN + link)
    assert recipe.run("compile", "toy") == 0
    assert (recipe.release().staged_prefix / "bin" / "link").readlink() == Path("other")


def test_a_changed_recipe_starts_from_nothing(recipe: Project) -> None:
    recipe.run("compile", "toy")
    left = recipe.release().build / "objects" / "left"
    left.touch()
    script = recipe.root / "build" / "stores" / "toy" / "compile.sh"
    script.write_text(COMPILE.replace("-g -o", "-O2 -o"))
    recipe.run("compile", "toy")
    assert runs(recipe) == 2
    assert not left.exists()


def test_a_changed_input_of_the_recipe_starts_from_nothing(recipe: Project) -> None:
    folder = recipe.root / "build" / "stores" / "toy"
    (folder / "recipe.toml").write_text(
        RECIPE.replace('"compile.sh"', '"compile.sh"\ninputs = ["pins"]')
    )
    (folder / "pins").write_text("one")
    recipe.run("compile", "toy")
    recipe.run("compile", "toy")
    assert runs(recipe) == 1
    (folder / "pins").write_text("another")
    recipe.run("compile", "toy")
    assert runs(recipe) == 2


def test_another_toolchain_of_this_tool_starts_from_nothing(
    recipe: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe.run("compile", "toy")
    left = recipe.release().build / "objects" / "left"
    left.touch()
    (tmp_path / "toolchain.py").write_text("# Other wrappers.\n")
    monkeypatch.setattr(toolchain, "__file__", str(tmp_path / "toolchain.py"))
    recipe.run("compile", "toy")
    assert runs(recipe) == 2
    assert not left.exists()


def test_a_missing_compiler_is_named(recipe: Project, capsys) -> None:
    file = recipe.root / "build" / "stores" / "toy" / "recipe.toml"
    file.write_text(RECIPE.replace('"compile.sh"', '"compile.sh"\ncompiler = "no-such-compiler"'))
    assert recipe.run("compile", "toy") == 1
    assert "there is no compiler no-such-compiler" in capsys.readouterr().err


def test_a_lost_repository_is_made_again(recipe: Project) -> None:
    recipe.run("compile", "toy")
    shutil.rmtree(recipe.layout.upstream("toy"))
    recipe.add_patch(greeting=HOOKED_GREETING.replace("hello", "good day"))
    assert recipe.run("compile", "toy") == 0
    assert runs(recipe) == 2


def test_a_checkout_that_was_broken_off_is_made_anew(recipe: Project) -> None:
    recipe.run("compile", "toy")
    source = recipe.release().build / "source"
    folder = Path(user_git(source, "rev-parse", "--absolute-git-dir").strip())
    # What git leaves that is killed while it makes a worktree.
    (folder / "index.lock").touch()
    (folder / "locked").write_text("initializing\n")
    (source / "src" / "main.c").unlink()
    recipe.add_patch(greeting=HOOKED_GREETING.replace("hello", "good day"))
    assert recipe.run("compile", "toy") == 0
    done = subprocess.run([staged(recipe) / "bin" / "toy"], capture_output=True)
    assert done.stdout == b"good day\n"


def test_a_failure_shows_the_end_of_the_log_and_where_it_is(recipe: Project, capsys) -> None:
    recipe.add_patch(main="int main(void) { return unknown; }\n")
    assert recipe.run("compile", "toy") == 1
    told = capsys.readouterr().err
    assert "undeclared" in told
    assert f"see {recipe.release().build / 'compile.log'}" in told
    assert not recipe.release().stage.exists()


def test_what_is_built_does_not_depend_on_where(recipe: Project, tmp_path: Path) -> None:
    recipe.run("compile", "toy")
    elsewhere = tmp_path / "elsewhere" / "checkout"
    elsewhere.parent.mkdir()
    first = (staged(recipe) / "bin" / "toy").read_bytes()
    subprocess.run(["rm", "-rf", recipe.layout.work], check=True)
    recipe.root.rename(elsewhere)
    moved = Project(elsewhere, recipe.served)
    assert moved.run("compile", "toy") == 0
    assert (staged(moved) / "bin" / "toy").read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_the_callers_flags_do_not_reach_the_build(recipe: Project, monkeypatch) -> None:
    monkeypatch.setenv("CFLAGS", "-broken")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("LC_CTYPE", "C")
    script = recipe.root / "build" / "stores" / "toy" / "compile.sh"
    broken = "gcc $CFLAGS ${MAKEFLAGS:+-broken} ${MAKELEVEL:+-broken} ${LC_CTYPE:+-broken}"
    script.write_text(COMPILE.replace("gcc", f"test $LANG = C.UTF-8\n{broken}"))
    assert recipe.run("compile", "toy") == 0


def test_a_store_without_a_recipe_says_so(series: Project, capsys) -> None:
    assert series.run("compile", "toy") == 1
    assert "recipe.toml is missing" in capsys.readouterr().err


def results(project: Project, capsys, *arguments: str) -> tuple[int, dict]:
    capsys.readouterr()
    status = project.run("test", "toy", *arguments, "-o", "json")
    return status, json.loads(capsys.readouterr().out)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to change the user")


def test_results_are_counted(recipe: Project, capsys) -> None:
    status, told = results(recipe, capsys, "--suite", "basic")
    (run,) = told["runs"]
    assert status == 0, Path(run["log"]).read_text()
    assert (run["suite"], run["mode"], run["variant"]) == ("basic", "absent", "patched")
    assert (run["passed"], run["failed"], run["skipped"]) == (4, 0, 0)
    assert run["succeeded"] is True
    assert run["seconds"] >= 0


@needs_root
def test_root_runs_them_as_another_user(recipe: Project, capsys) -> None:
    results(recipe, capsys, "--suite", "basic")
    written = recipe.release().with_testing().build / "test" / "written"
    assert written.owner() == "nobody"


def test_all_leaves_parts_out_and_runs_the_plug_ins_suite_once(recipe: Project, capsys) -> None:
    _, told = results(recipe, capsys, "--mode", "all")
    ran = [(run["suite"], run["mode"]) for run in told["runs"]]
    assert ran == [("basic", "absent"), ("plugin", "absent"), ("basic", "loaded")]
    assert all(run["succeeded"] for run in told["runs"])


def test_the_same_passes_on_stock(recipe: Project, capsys) -> None:
    status, told = results(recipe, capsys, "--suite", "basic", "--mode", "loaded", "--compare")
    (comparison,) = told["comparisons"]
    assert status == 0
    assert comparison["same"] is True
    assert comparison["passed_patched"] == comparison["passed_stock"] == 4


def test_different_passes_on_stock_are_a_failure(recipe: Project, capsys, monkeypatch) -> None:
    monkeypatch.setenv("SAY_MORE", "only here")
    status, told = results(recipe, capsys, "--suite", "basic", "--compare")
    assert status == 1
    assert told["comparisons"][0]["only_patched"] == ["t/001_basic.pl: only here"]


def test_a_suite_that_breaks_off_has_failed(recipe: Project, capsys, monkeypatch) -> None:
    monkeypatch.setenv("END", "3")
    status, told = results(recipe, capsys, "--suite", "basic")
    assert status == 1
    assert told["runs"][0]["failures"] == ["(the suite as a whole, exit status 3)"]


def test_an_unknown_suite_or_mode_names_those_there_are(recipe: Project, capsys) -> None:
    assert recipe.run("test", "toy", "--suite", "none") == 1
    assert "choose one of: basic, basic-fast, plugin" in capsys.readouterr().err
    assert recipe.run("test", "toy", "--variant", "stock", "--mode", "loaded") == 1
    assert "choose one of: absent" in capsys.readouterr().err
