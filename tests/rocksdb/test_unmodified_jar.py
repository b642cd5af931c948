"""Java with the jar as published, and the patched library preloaded in place of the jar's own."""

import os
import subprocess
from pathlib import Path

import pytest
from rocksdb_stage import Staged

PROGRAM = Path(__file__).with_name("WriteAndCompact.java")
OVERRIDE = "ROCKSDB_DB_OPTIONS_OVERRIDE"
COMPRESSIONS = [
    "NO_COMPRESSION",
    *("SNAPPY_COMPRESSION", "ZLIB_COMPRESSION", "BZLIB2_COMPRESSION"),
    *("LZ4_COMPRESSION", "LZ4HC_COMPRESSION", "ZSTD_COMPRESSION"),
]


def run_java(
    jar: Path, database: Path, compression: str = "LZ4_COMPRESSION", **variables: str
) -> dict[str, str]:
    """Run the program on DATABASE; gives what it says, by name."""
    # The jar unpacks its library into the folder for temporary files.
    options = ["-Xmx128m", f"-Djava.io.tmpdir={database.parent}", "-cp", str(jar)]
    done = subprocess.run(
        ["java", *options, str(PROGRAM), str(database), compression],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


def override_lines(database: Path) -> list[str]:
    log = (database / "LOG").read_text()
    return [line for line in log.splitlines() if OVERRIDE in line]


def test_the_jar_alone_knows_no_override(jar: Path, tmp_path: Path) -> None:
    said = run_java(jar, tmp_path / "db", **{OVERRIDE: "max_background_jobs=7"})
    assert said == {"rows": "1000", "max_background_jobs": "2"}
    assert override_lines(tmp_path / "db") == []


def test_preloaded_an_option_comes_by_environment(
    patched: Staged, jar: Path, tmp_path: Path
) -> None:
    variables = {"LD_PRELOAD": str(patched.preload), OVERRIDE: "max_background_jobs=7"}
    said = run_java(jar, tmp_path / "db", **variables)
    assert said == {"rows": "1000", "max_background_jobs": "7"}
    (line,) = override_lines(tmp_path / "db")
    assert line.endswith("(ignored unless OK): OK")


def test_preloaded_a_bad_option_is_logged_and_ignored(
    patched: Staged, jar: Path, tmp_path: Path
) -> None:
    variables = {"LD_PRELOAD": str(patched.preload), OVERRIDE: "max_background_jobs=7;colour=red"}
    said = run_java(jar, tmp_path / "db", **variables)
    assert said == {"rows": "1000", "max_background_jobs": "2"}
    (line,) = override_lines(tmp_path / "db")
    assert "colour" in line


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_each_reads_what_the_other_wrote(
    patched: Staged, jar: Path, tmp_path: Path, compression: str
) -> None:
    preloaded = {"LD_PRELOAD": str(patched.preload)}
    for variables in (preloaded, {}, preloaded):
        assert run_java(jar, tmp_path / "db", compression, **variables)["rows"] == "1000"
