"""Shared fixtures: the project's experiments, and a folder of synthetic records."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, settings
from sluice_evaluation import assemble, experiment, freeze, plan, records
from synthetic import write_raw

# How long an example takes, or is thought up, says how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

EXPERIMENTS = Path(__file__).parents[2] / "ansible" / "experiments"


@pytest.fixture(scope="session")
def experiments_folder(tmp_path_factory) -> Path:
    """The project's experiments, with enough smoke runs for the statistics to say something."""
    folder = tmp_path_factory.mktemp("experiments")
    for file in EXPERIMENTS.glob("*.yml"):
        document = yaml.safe_load(file.read_text())
        if "smoke" in document["profiles"]:
            document["profiles"]["smoke"]["runs"] = 4
        (folder / file.name).write_text(yaml.safe_dump(document, sort_keys=False))
    return folder


@pytest.fixture(scope="session")
def experiments(experiments_folder):
    return experiment.load_all(experiments_folder)


def run_everything(chosen, profile: str, results: Path, scratch: Path) -> None:
    """Plan and record until nothing is left, freezing between the stages."""
    while True:
        made = plan.make_plan(chosen, profile, records.load_all(results), results)
        for planned in made["runs"]:
            raw = scratch / planned["result_directory"].replace("/", "-")
            assemble.record_run(made, planned, write_raw(planned, raw), results)
        if made["freeze_needed"]:
            freeze.write(results, freeze.choose(chosen, profile, records.load_all(results)))
        elif not made["runs"]:
            return


@pytest.fixture(scope="session")
def smoke_results(tmp_path_factory, experiments) -> Path:
    """Complete synthetic records of the profile smoke of all experiments; not to be changed."""
    results = tmp_path_factory.mktemp("synthetic-results")
    scratch = tmp_path_factory.mktemp("synthetic-raw")
    for chosen in experiments.values():
        if "smoke" in chosen.document["profiles"]:
            run_everything(chosen, "smoke", results, scratch)
    return results


@pytest.fixture
def controlled(experiments, tmp_path):
    """Plan and run of the arm whose controller is killed."""
    made = plan.make_plan(experiments["postgres-slo"], "small", [], tmp_path)
    # The tuning comes first; what it finds does not matter here.
    stage = plan.Stage(
        experiments["postgres-slo"], "small", experiment.MEASURE, plan.NOTHING_DONE, None
    )
    cells = experiments["postgres-slo"].cells("small", experiment.MEASURE)
    cell = next(cell for cell in cells if cell.faults)
    return made, plan.planned_run(stage, cell, 1, 1)
