"""Names of failed tests in the output of each tool."""

import pytest
from step_failures import failures_of


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (
            "=== short test summary info ===\nFAILED a/test_b.py::test_c - assert 1 == 2\n",
            ["a/test_b.py::test_c - assert 1 == 2"],
        ),
        (
            "  failed: t/005_crash.pl: the sums agree  (log /a/b.log)\n",
            ["t/005_crash.pl: the sums agree"],
        ),
        ("--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/part (0.0s)\n", ["TestA", "TestA/part"]),
        (
            "=== RUN   TestA\n=== RUN   TestB\n    b_test.go:1: of B\n=== NAME  TestA\n"
            "    a_test.go:7: 1 of 2\n        more\n    a_test.go:9: none\n--- FAIL: TestA (0.1s)\n"
            "--- PASS: TestB (0.1s)\n",
            ["TestA a_test.go:7: 1 of 2 a_test.go:9: none"],
        ),
        ("[ERROR] Failures: \n[ERROR]   ATest.b:12 expected: 1\n", ["ATest.b:12 expected: 1"]),
        (
            "\x1b[31m│\x1b[0m \x1b[0;31mfatal: [pg1]: FAILED! => {}\x1b[0m\n",
            ["fatal: [pg1]: FAILED! => {}"],
        ),
        ("fatal: [pg1]: UNREACHABLE!\n" * 2, ["fatal: [pg1]: UNREACHABLE!"]),
        (
            "  │ TASK [sluice.stores.testbed : Remove the\n  │   disks] *****\n"
            "  │ ok: [pg2]\n"
            "  │ fatal: [pg1 -> localhost]: FAILED! =>\n  │     changed: false\n"
            "  │     msg: the mount is busy\n  │     rc: 1\n  │     stderr: ''\n  │\n"
            "  │ PLAY RECAP ***\n  │     msg: of something else\n",
            [
                "[sluice.stores.testbed : Remove the disks] fatal: [pg1 -> localhost]: FAILED! => "
                "the mount is busy ''"
            ],
        ),
        (
            "TASK [a] ***\nfailed: [pg1] (item=b) => \n    msg: no c\nok: [pg2]\n    msg: d\n",
            ["[a] failed: [pg1] (item=b) => no c"],
        ),
        ("--- PASS: TestA (0.1s)\nno failed: test\n[ERROR] Tests run: 1\n", []),
    ],
)
def test_names(output, names):
    assert failures_of(output) == names


def test_the_first_ones_are_enough():
    output = "".join(f"--- FAIL: Test{i} (0.0s)\n" for i in range(9))
    assert failures_of(output, most=2) == ["Test0", "Test1"]
    assert failures_of(output, most=1, columns=3) == ["Tes"]
