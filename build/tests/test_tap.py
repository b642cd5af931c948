from sluice_dist.tap import read_results

PROVE = """\
# +++ tap check in src/test/recovery +++
t/001_stream.pl ..
# issuing query
ok 1 - standby has the rows
not ok 2 - lag is 0
#   Failed test 'lag is 0'
    ok 1 - a part of a test
ok 3 # skip no injection points
ok 4 - again
ok 5 - again
not ok 6 - known # TODO later
1..6
Failed 1/6 subtests
t/002_archive.pl .. skipped: no archive
t/003_more.pl ....
ok 1 - standby has the rows
ok
All tests successful.
"""
DIED = """\
t/001_pace.pl ......
ok 1 - a hold
timed out waiting for: state = 'held'; progress is idle at t/SluiceTest.pm line 60.
# Tests were run but no plan was declared and done_testing() was not seen.
# Looks like your test exited with 29 just after 1.
Dubious, test returned 29 (wstat 7424, 0x1d00)
All 1 subtests passed
t/002_release.pl ...
not ok 1 - released
1..1

Test Summary Report
-------------------
t/001_pace.pl    (Wstat: 7424 (exited 29) Tests: 1 Failed: 0)
  Non-zero exit status: 29
  Parse errors: No plan found in TAP output
t/002_release.pl (Wstat: 256 (exited 1) Tests: 1 Failed: 1)
  Failed test:  1
"""
PG_REGRESS = """\
# parallel group (2 tests):  char boolean
ok 1         - test_setup                                  301 ms
ok 2         + boolean                                     124 ms
not ok 3     + char                                         79 ms
1..3
"""


def test_prove_output() -> None:
    results = read_results(PROVE)
    assert results.passed == [
        "t/001_stream.pl: standby has the rows",
        "t/001_stream.pl: again",
        "t/001_stream.pl: again #2",
        "t/003_more.pl: standby has the rows",
    ]
    assert results.failed == ["t/001_stream.pl: lag is 0"]
    assert results.skipped == [
        "t/001_stream.pl: 3",
        "t/001_stream.pl: known",
        "t/002_archive.pl: (all)",
    ]


def test_a_file_that_died_between_tests_has_failed_and_says_why() -> None:
    assert read_results(DIED).failed == [
        "t/002_release.pl: released",
        "t/001_pace.pl: (died after 1 tests: timed out waiting for: state = 'held'; progress is "
        "idle)",
    ]


def test_a_death_names_the_file_that_was_read_last_too() -> None:
    died = DIED.replace("line 60.", "line 60, <$fh> line 3.")
    assert read_results(died).failed == read_results(DIED).failed


def test_a_death_that_names_its_test_may_come_before_it() -> None:
    died, results = DIED.split("timed out", 1)
    message, results = results.split("\n", 1)
    early = f"# t/001_pace.pl: timed out{message}\n{died}{results}"
    assert read_results(early).failed == read_results(DIED).failed


def test_regression_output() -> None:
    results = read_results(PG_REGRESS)
    assert results.passed == ["test_setup", "boolean"]
    assert results.failed == ["char"]


def test_a_log_without_tests_gives_nothing() -> None:
    results = read_results("make: nothing to be done\nbook 1\nok\n")
    assert (results.passed, results.failed, results.skipped) == ([], [], [])


def test_a_name_does_not_depend_on_process_ids() -> None:
    first = read_results("ok 17 - have walsender pid 17144\n")
    second = read_results("ok 17 - have walsender pid 1075\n")
    assert first.passed == second.passed == ["have walsender pid N"]
