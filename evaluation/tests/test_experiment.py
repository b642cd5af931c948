"""Experiments: the committed ones, and what is wrong with wrong ones."""

import copy

import pytest
import yaml
from conftest import EXPERIMENTS
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import load, load_all, matches


def write(folder, document):
    path = folder / f"{document['name']}.yml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.fixture
def document():
    return yaml.safe_load((EXPERIMENTS / "postgres-checkpoint.yml").read_text())


def test_checkpoint_has_the_published_factors(experiments):
    cells = experiments["postgres-checkpoint"].cells("small", "measure")
    assert len(cells) == 2 * 3 * 3 * 2
    assert {c.factors["max_wal_size_megabytes"] for c in cells} == {128, 1024}
    assert {c.factors["checkpoint_completion_target"] for c in cells} == {0.1, 0.5, 0.9}
    assert {(c.workload, c.threads) for c in cells} == {(w, t) for w in "abf" for t in (1, 10)}


def test_all_arms_of_the_burst_have_the_same_wal_bound(experiments):
    chosen = experiments["postgres-burst"]
    for profile in chosen.document["profiles"]:
        cells = chosen.cells(profile, "measure")
        for device in {cell.device for cell in cells}:
            bounds = {c.settings["max_wal_size"] for c in cells if c.device == device}
            assert len(bounds) == 1
        assert {cell.settings.get("sluice.wal_bound", 0) for cell in cells} == {0}


def test_the_tuned_arm_is_judged_at_another_phase_and_seed(experiments):
    tune = experiments["postgres-burst"].stage("tune")
    assert tune["seed_offset"] != 0 and tune["burst_shift_seconds"] != 0
    names = {factor["name"] for factor in tune["factors"]}
    assert names >= {"checkpoint_completion_target", "checkpoint_flush_after", "wal_init_zero"}


@pytest.mark.parametrize("name", ["postgres-checkpoint", "postgres-burst"])
@pytest.mark.parametrize("profile", ["small", "paper"])
def test_profiles_that_judge_have_at_least_four_runs_a_side(name, profile):
    assert load(name, EXPERIMENTS).runs(profile, "measure") >= 4


@pytest.mark.parametrize("store", ["postgres", "hbase"])
def test_smoke_of_a_store_fits_into_six_minutes(store):
    seconds = 0
    for chosen in load_all(EXPERIMENTS).values():
        if chosen.document["store"] != store or "smoke" not in chosen.document["profiles"]:
            continue
        table = chosen.profile("smoke")
        each = sum(table["phases"].values()) + table["estimate"]["overhead_seconds"]
        cells = chosen.cells("smoke", "measure")
        seconds += len(cells) * table["runs"] * each
        seconds += len({c.variant for c in cells}) * table["estimate"]["load_seconds"]
    assert 0 < seconds <= 360


def test_profile_settings_override_the_experiments_and_levels_override_both(tmp_path, document):
    document["settings"] |= {"a": 1, "b": 1, "max_wal_size": "1GB"}
    document["profiles"]["small"]["settings"] = {"a": 2, "max_wal_size": "2GB"}
    cell = load(write(tmp_path, document)).cells("small", "measure")[0]
    assert (cell.settings["a"], cell.settings["b"]) == (2, 1)
    assert cell.settings["max_wal_size"] == "128MB"


def test_constraints_leave_cells_out(tmp_path, document):
    document["stages"][0]["exclude"] = [{"workload": ["B"], "threads": [1]}]
    cells = load(write(tmp_path, document)).cells("small", "measure")
    assert len(cells) == 30
    assert not any(matches(c.factors, {"workload": "B", "threads": 1}) for c in cells)


def test_digest_is_of_what_runs_depend_on(tmp_path, document):
    before = load(write(tmp_path, document)).digest()
    told = copy.deepcopy(document) | {"title": "Another title", "limitations": []}
    assert load(write(tmp_path, told)).digest() == before
    document["profiles"]["small"]["phases"]["normal_seconds"] = 41
    assert load(write(tmp_path, document)).digest() != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("baseline"), "'baseline' is a required property"),
        (lambda d: d["profiles"]["small"].update(runs=3), "3 is less than the minimum of 4"),
        (lambda d: d["profiles"]["smoke"].update(runs=0), "0 is less than the minimum of 1"),
        (lambda d: d.update(surprise=1), "'surprise' was unexpected"),
        (lambda d: d.update(latency="intended"), "needs a load with target rates"),
        (lambda d: d["claims"][0].update(published="nobody"), "published nobody is not listed"),
        (lambda d: d["baseline"].update(max_wal_size_megabytes=5), "no cell is the baseline"),
        (lambda d: d["profiles"]["smoke"]["only"].update(workload=["Z"]), "no cell is left"),
        (
            lambda d: d["stages"][0]["factors"][2]["levels"][0].update(workload="z"),
            "workload z is not listed",
        ),
        (
            lambda d: d["stages"][0]["factors"][2]["levels"][1].update(id="a"),
            "two cells have the same id",
        ),
        (
            lambda d: d["stages"][0]["factors"][2]["levels"][1].update(value="A"),
            "two levels have the same value",
        ),
        (lambda d: d["stages"][0].pop("variant"), "no level sets what a cell needs"),
    ],
)
def test_wrong_experiment_is_refused(tmp_path, document, change, message):
    change(document)
    with pytest.raises(EvaluationError, match=message):
        load(write(tmp_path, document))


def test_name_is_that_of_the_file(tmp_path, document):
    path = tmp_path / "other.yml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(EvaluationError, match="must be that of the file"):
        load(str(path))


def test_unknown_experiment_and_profile_name_what_there_is(experiments):
    with pytest.raises(
        EvaluationError, match="postgres-burst, postgres-checkpoint, postgres-lease"
    ):
        load("nothing", EXPERIMENTS)
    with pytest.raises(EvaluationError, match="smoke, small"):
        experiments["postgres-checkpoint"].profile("huge")


def test_no_two_stages_have_a_cell_with_the_same_id(tmp_path):
    document = yaml.safe_load((EXPERIMENTS / "postgres-burst.yml").read_text())
    tune, measure = document["stages"]
    arm, device = measure["factors"]
    tune["factors"] = [arm | {"levels": [{"id": "stock0.1", "value": "tuned"}]}, device]
    with pytest.raises(EvaluationError, match=r"two stages have a cell stock0\.1_throttle"):
        load(write(tmp_path, document))


def test_a_claim_is_about_one_cell_on_each_side(tmp_path):
    document = yaml.safe_load((EXPERIMENTS / "postgres-burst.yml").read_text())
    claim = document["claims"][0]
    # Of two devices the first alone would be looked at.
    claim.pop("per")
    with pytest.raises(EvaluationError, match=f"small: claim {claim['id']} is about several cells"):
        load(write(tmp_path, document))


def test_an_even_load_must_be_declared(tmp_path):
    document = yaml.safe_load((EXPERIMENTS / "postgres-slo.yml").read_text())
    del document["profiles"]["small"]["load"]["even"]
    with pytest.raises(EvaluationError, match="a level has even_load"):
        load(write(tmp_path, document))


def test_a_load_warms_up_within_the_warm_up_phase(tmp_path):
    document = yaml.safe_load((EXPERIMENTS / "postgres-slo.yml").read_text())
    small = document["profiles"]["small"]
    longest = small["phases"]["warm_up_seconds"]
    small["load"]["warm_up"] = {"duration_seconds": longest, "target_operations_per_second": 10}
    load(write(tmp_path, document))
    small["load"]["warm_up"]["duration_seconds"] = longest + 1
    with pytest.raises(EvaluationError, match="longer than warm_up_seconds"):
        load(write(tmp_path, document))


def test_a_stage_may_have_a_warm_up_of_its_own(tmp_path):
    document = yaml.safe_load((EXPERIMENTS / "hbase-phases.yml").read_text())
    small = document["profiles"]["small"]
    small["phases_by_stage"] = {"measure": {"warm_up_seconds": 200}}
    experiment = load(write(tmp_path, document))
    assert experiment.phases("small", "measure") == small["phases"] | {"warm_up_seconds": 200}
    assert experiment.phases("small", "tune") == small["phases"]
    small["phases_by_stage"] = {"measure": {"warm_up_seconds": 1}}
    with pytest.raises(EvaluationError, match="longer than warm_up_seconds, 1"):
        load(write(tmp_path, document))
    small["phases_by_stage"] = {"mesure": {"warm_up_seconds": 200}}
    with pytest.raises(EvaluationError, match="mesure, which is none of its stages"):
        load(write(tmp_path, document))
