"""What the program is told and answers, with a program that does nothing but answer."""

import sys
from pathlib import Path

import pytest
from database_program import DatabaseProgram, plugin_options

ANSWERS = """\
import sys
print(0.25, flush=True)
threads = []
for line in sys.stdin:
    command, database, *numbers = line.split()
    if command == "compact":
        sys.exit(1)
    if command == "read":
        threads.append(numbers[1])
    if command == "count":
        print("".join(threads), flush=True)
    else:
        print(int(numbers[0]) / (int(numbers[1]) or 1), flush=True)
"""


def program(folder: Path, text: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def test_the_plugin_gets_its_settings():
    assert plugin_options(instance="a", remote="false") == (
        "compaction_service={id=sluice;instance=a;remote=false}"
    )


def test_each_command_is_answered_by_its_seconds(tmp_path):
    with DatabaseProgram(program(tmp_path, ANSWERS), "", [tmp_path]) as running:
        assert running.fill(tmp_path, 3, 4) == 0.75


def test_readers_end_with_their_context(tmp_path):
    with DatabaseProgram(program(tmp_path, ANSWERS), "", [tmp_path]) as running:
        with running.reading(tmp_path, 10, 2):
            assert running.reads(tmp_path) == 2
        assert running.reads(tmp_path) == 20


def test_a_program_that_fails_to_close_is_an_error(tmp_path):
    failing = program(tmp_path, ANSWERS + "sys.exit(1)\n")
    with (
        pytest.raises(SystemExit, match="failed to close"),
        DatabaseProgram(failing, "", [tmp_path]) as running,
    ):
        running.fill(tmp_path, 1, 1)


def test_a_program_that_ends_is_an_error(tmp_path):
    with (
        pytest.raises(SystemExit, match="has ended at `compact"),
        DatabaseProgram(program(tmp_path, ANSWERS), "", [tmp_path]) as running,
    ):
        running.compact(tmp_path, 0, 1)


def test_a_program_that_does_not_open_is_an_error(tmp_path):
    with (
        pytest.raises(SystemExit, match="has ended at `opening`"),
        DatabaseProgram(program(tmp_path, "raise SystemExit(1)"), "", [tmp_path]),
    ):
        pytest.fail("it is not open")
