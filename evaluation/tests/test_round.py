"""The tasks that run a plan, with a command and runs that only pretend: what they end with."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TASKS = Path(__file__).parents[2] / "ansible/roles/evaluation/tasks/round.yml"
PLAYBOOK = shutil.which("ansible-playbook", path=str(Path(sys.executable).parent))
# It prints the plans in turn, and the last one again and again.
COMMAND = """#!/bin/sh
echo "$@" >> calls
set -- plans/*
cat "$1"
[ $# -eq 1 ] || rm "$1"
"""

pytestmark = pytest.mark.skipif(PLAYBOOK is None, reason="needs ansible-playbook")


def plan(cells=(), failed=(), freeze_needed=False, stage="tune"):
    """What the role reads of a plan; `failed` has cells with whether they are given up."""
    runs = [
        {
            "cell": cell,
            "run": 1,
            "clients": [],
            "device": {"model": "shared"},
            "result_directory": f"e/small/{cell}/01",
        }
        for cell in cells
    ]
    failures = [
        {"given_up": given_up, "record_directory": f"e/small/{cell}/01-failed-{1 + given_up}"}
        for cell, given_up in failed
    ]
    return {
        "stage": stage,
        "runs": runs,
        "runs_left_in_stage": len(runs),
        "estimated_seconds": 1,
        "next_block_seconds": 1,
        "overhead_seconds": 31.4,
        "overhead_runs_count": 14,
        "disk_bytes": 0,
        "freeze_needed": freeze_needed,
        "runs_given_up": sum(given_up for _, given_up in failed),
        "failed": failures,
    }


@pytest.fixture
def play(tmp_path):
    """Follow the tasks with these plans; returns exit code and output."""

    def follow(*plans, budget=0):
        (tmp_path / "plans").mkdir()
        for number, made in enumerate(plans):
            (tmp_path / f"plans/{number}").write_text(json.dumps(made))
        shutil.copy(TASKS, tmp_path / "round.yml")
        (tmp_path / "run.yml").write_text("- ansible.builtin.debug: {msg: run}\n")
        command = tmp_path / "command"
        command.write_text(COMMAND)
        command.chmod(0o755)
        variables = {
            "_evaluation_command": str(command),
            "_evaluation_checkout": str(tmp_path),
            "_evaluation_plan_file": str(tmp_path / "plan.json"),
            "evaluation_experiment": "e",
            "evaluation_profile": "small",
            "evaluation_results_directory": "results",
            "evaluation_budget_seconds": budget,
            "evaluation_hosts": ["localhost"],
            "ansible_python_interpreter": sys.executable,
        }
        playbook = [{"hosts": "localhost", "connection": "local", "gather_facts": False,
                     "vars": variables, "tasks": [{"include_tasks": "round.yml"}]}]  # fmt: skip
        (tmp_path / "play.yml").write_text(yaml.safe_dump(playbook))
        done = subprocess.run(
            [PLAYBOOK, "-i", "localhost,", "play.yml"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, " ".join(done.stdout.split())

    return follow


def test_with_a_budget_a_run_that_failed_fails_the_command(play):
    # That of another plan failed before, and is not this one's.
    after = plan(["c"], failed=[("b", False), ("c", False)])
    code, output = play(plan(["a", "b"]), after, budget=600)
    assert code == 2
    assert "1 of 2 runs of e small failed: record.json in e/small/b/01-failed-1 below" in output


def test_with_a_budget_all_is_well_where_the_runs_of_this_plan_are(play):
    code, output = play(plan(["a"]), plan(["c"], failed=[("c", False)]), budget=600)
    assert code == 0, output


def test_without_a_budget_failed_runs_are_planned_again(play, tmp_path):
    code, output = play(plan(["a"]), plan(["a"], failed=[("a", False)]), plan(stage="measure"))
    assert code == 0, output
    assert "1 of 1 runs, about 0.0 min (31 s of each beyond its phases, by the median of" in output
    assert (tmp_path / "calls").read_text().count("plan ") == 3


def test_where_a_run_of_the_tuning_was_given_up_the_message_says_what_to_do(play, tmp_path):
    code, output = play(plan(failed=[("a", True), ("b", False)]))
    assert code == 2
    assert "record.json in e/small/a/01-failed-2 below results says" in output
    assert "Remove these folders and run again; or leave their cells out" in output
    assert "freeze e --profile small --results results --without-failed" in output
    assert "freeze" not in (tmp_path / "calls").read_text()
