"""Counting tests in the output of each tool."""

import pytest
from step_counts import Counts, counts_of

PYTEST = "....\n==== 2 failed, 10 passed, 1 skipped, 1 error in 61.20s (0:01:01) ====\n"
PYTEST_QUIET = "..\n2 passed in 0.02s\n"
PYTEST_COLOUR = "\x1b[32m\x1b[1m3 passed\x1b[0m\x1b[32m in 0.02s\x1b[0m\n"
PROVE = "All tests successful.\nFiles=2, Tests=14,  3 wallclock secs ( 0.01 usr)\nResult: PASS\n"
PROVE_FAILED = (
    "t/001.pl (Wstat: 256 Tests: 9 Failed: 3)\n  Failed tests:  2, 4-5\n"
    "Files=1, Tests=9,  1 wallclock secs\nResult: FAIL\n"
)
REGRESS = "ok 1 - boolean\n# All 225 tests passed.\n"
REGRESS_FAILED = "# 2 of 225 tests failed.\n"
SUREFIRE = (
    "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n"
    "[INFO] Results:\n[INFO] \n[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1\n"
)
SUREFIRE_FAILED = "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0\n"
GO = (
    "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/part (0.00s)\n"
    "--- SKIP: TestB (0.00s)\nPASS\nok  \tsluice.dev/control/internal/store\t0.003s\n"
)
GO_FAILED = "--- FAIL: TestA (0.00s)\n    a_test.go:9: 1 != 2\nFAIL\n"


@pytest.mark.parametrize(
    ("output", "exit_code", "counts"),
    [
        (PYTEST, 1, Counts(10, 3, 1)),
        (PYTEST_QUIET, 0, Counts(2, 0, 0)),
        (PYTEST_COLOUR, 0, Counts(3, 0, 0)),
        (PROVE, 0, Counts(14, 0, 0)),
        (PROVE_FAILED, 1, Counts(6, 3, 0)),
        (REGRESS, 0, Counts(225, 0, 0)),
        (REGRESS_FAILED, 1, Counts(223, 2, 0)),
        (SUREFIRE, 0, Counts(3, 0, 1)),
        (SUREFIRE_FAILED, 1, Counts(2, 2, 0)),
        (GO, 0, Counts(1, 0, 1)),
        (GO + GO_FAILED, 1, Counts(1, 1, 1)),
        ("12 passed, 0 failed\n", 0, Counts(12, 0, 0)),
        (PYTEST_QUIET + REGRESS, 0, Counts(227, 0, 0)),
        ("built\n", 0, Counts(1, 0, 0)),
        ("no rule to make target\n", 2, Counts(0, 1, 0)),
        (PYTEST_QUIET + "Segmentation fault\n", 139, Counts(2, 1, 0)),
    ],
)
def test_counts(output, exit_code, counts):
    assert counts_of(output, exit_code != 0) == counts
