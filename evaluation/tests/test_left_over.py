"""Folders of runs without a record: told before a run is made for nothing, and never removed."""

import pytest
from sluice_evaluation import assemble, cli, left_over, records
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.plan import make_plan
from synthetic import write_raw


@pytest.fixture
def checkpoint(experiments):
    return experiments["postgres-checkpoint"]


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def abandoned(results, planned, failed=False):
    """What is left of a record whose removal was broken off."""
    folder = results / records.result_directory(planned, failed)
    (folder / "histograms").mkdir(parents=True)
    (folder / "histograms" / "steady-read-measured.hdr").write_text("#[StartTime: 1]\n")
    return folder


@pytest.mark.parametrize("failed", [False, True])
def test_a_run_that_could_not_be_recorded_is_not_planned(checkpoint, results, failed):
    planned = make_plan(checkpoint, "smoke", [], results)["runs"][1]
    folder = abandoned(results, planned, failed)
    with pytest.raises(EvaluationError, match=rf"{folder}: there are files and no record\.json"):
        make_plan(checkpoint, "smoke", [], results)
    assert list(folder.rglob("*.hdr"))


def test_other_profiles_are_planned_beside_it(checkpoint, results):
    abandoned(results, make_plan(checkpoint, "smoke", [], results)["runs"][1])
    assert make_plan(checkpoint, "small", [], results)["runs"]


def test_a_run_that_was_made_before_it_was_seen_is_refused_with_what_to_do(
    checkpoint, results, tmp_path
):
    plan = make_plan(checkpoint, "smoke", [], results)
    planned = plan["runs"][0]
    folder = abandoned(results, planned)
    raw = write_raw(planned, tmp_path / "raw")
    with pytest.raises(EvaluationError, match=rf"{folder}: .*or remove the folder; then record"):
        assemble.record_run(plan, planned, raw, results)
    assert list(folder.rglob("*.hdr"))


def test_folders_without_any_file_make_room(checkpoint, results, tmp_path):
    plan = make_plan(checkpoint, "smoke", [], results)
    planned = plan["runs"][0]
    (results / planned["result_directory"] / "samples").mkdir(parents=True)
    assert make_plan(checkpoint, "smoke", [], results) == plan
    assert list(left_over.find(results)) == []
    raw = write_raw(planned, tmp_path / "raw")
    directory = assemble.record_run(plan, planned, raw, results)
    assert records.faults(directory / "record.json", results) == []


def test_check_names_it_and_counts_it_as_failed(checkpoint, results, tmp_path, capsys):
    plan = make_plan(checkpoint, "smoke", [], results)
    first, second = plan["runs"][:2]
    assemble.record_run(plan, first, write_raw(first, tmp_path / "raw"), results)
    assert cli.main(["check", str(results)]) == 0
    folder = abandoned(results, second)
    assert cli.main(["check", str(results)]) == 1
    told = capsys.readouterr()
    assert f"{folder}: there are files and no record.json" in told.err
    assert told.out.endswith("1 passed, 1 failed\n")


def test_a_record_that_is_still_staged_and_other_folders_are_not_left_over(results):
    for folder in ("e/small/cell/.staged-abc", "e/small/cell/notes", "report/a/b/c"):
        (results / folder).mkdir(parents=True)
        (results / folder / "intervals.csv").write_text("x")
    assert list(left_over.find(results)) == []
