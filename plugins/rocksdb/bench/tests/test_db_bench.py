"""What db_bench prints, which variables it gets, and whether its database took its options."""

import pytest
from db_bench import (
    ACCEPTED,
    BENCHMARKS,
    EXISTING,
    OVERRIDE,
    check_override,
    environment,
    operations_done,
    with_databases,
)

PRINTED = """\
RocksDB:    version 11.8.1
------------------------------------------------
DB path: [/dev/shm/x]
fillrandom   :       4.217 micros/op 237128 ops/sec 3.002 seconds 711900 operations;   26.2 MB/s
DB path: [/dev/shm/x]
readwhilewriting :   9.000 micros/op 111111 ops/sec 2.000 seconds 222222 operations; (2 of 3 found)
"""


def test_operations_are_those_of_the_benchmark():
    assert operations_done(PRINTED, "fillrandom") == 711_900
    assert operations_done(PRINTED, "readwhilewriting") == 222_222
    with pytest.raises(ValueError, match="no operation of readrandom"):
        operations_done(PRINTED, "readrandom")


def test_a_benchmark_that_has_done_nothing_is_an_error():
    with pytest.raises(ValueError, match="no operation"):
        operations_done(
            "readrandom : 0 micros/op 0 ops/sec 1.0 seconds 0 operations;", "readrandom"
        )


def test_only_the_arm_with_options_has_the_variable(monkeypatch):
    monkeypatch.setenv(OVERRIDE, "max_background_jobs=9")
    assert OVERRIDE not in environment("")
    assert environment("max_background_jobs=4")[OVERRIDE] == "max_background_jobs=4"


@pytest.mark.parametrize(
    ("log", "override", "is_right"),
    [
        (ACCEPTED, "a=b", True),
        ("", "", True),
        (f"{OVERRIDE} (ignored unless OK): Invalid argument: a", "a=b", False),
        ("", "a=b", False),
        (ACCEPTED, "", False),
    ],
)
def test_a_database_says_whether_it_took_its_options(tmp_path, log, override, is_right):
    (tmp_path / "LOG").write_text(f"RocksDB version: 11.8.1\n{log}\n")
    if is_right:
        check_override(tmp_path, override)
        return
    with pytest.raises(SystemExit, match="see its LOG"):
        check_override(tmp_path, override)


def test_benchmarks_that_read_have_a_copy_each(tmp_path):
    made = tmp_path / "made"
    made.mkdir()
    (made / "CURRENT").write_text("MANIFEST-000001\n")
    for benchmark, options in BENCHMARKS.items():
        folder = tmp_path / f"of-{benchmark}"
        folder.mkdir()
        databases = with_databases(folder, ["stock", "patched"], benchmark, made)
        assert len(set(databases.values())) == 2
        for database in databases.values():
            assert database.exists() == (EXISTING in options)
