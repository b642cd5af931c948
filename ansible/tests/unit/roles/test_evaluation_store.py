"""The program that runs PostgreSQL for a run: what it writes, and what it refuses."""

import importlib.util
import io
import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "ansible/roles/postgres/files/evaluation_store.py"


@pytest.fixture
def program(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("evaluation_store", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "STATE", tmp_path / "state.json")
    monkeypatch.setattr(module, "UNIT_DATA", tmp_path / "unit" / "evaluation")
    monkeypatch.setattr(module.evaluation_program, "UNITS_OF_THIS_BOOT", tmp_path / "units")
    return module


def made_by_nobody(path, user, mode):
    path.mkdir(parents=True, exist_ok=True)


def order(tmp_path, **run):
    plan = {"version": "17.11", "variant": "patched", "settings": {}, "data": {"record_count": 10}}
    return {
        "run": plan | run,
        "directory": str(tmp_path / "disk"),
        "copies": str(tmp_path / "copies"),
        "passwords": {},
        "port": 5440,
    }


@pytest.mark.parametrize(("variant", "label"), [("patched", "17.11"), ("stock", "17.11-stock")])
def test_build_unit_and_copy_are_of_the_variant(program, tmp_path, variant, label):
    store = program.Store(order(tmp_path, variant=variant))
    assert store.programs == Path(f"/opt/sluice/postgres/{label}/bin")
    assert store.unit == f"sluice-postgres-{label}@evaluation.service"
    assert store.copy == tmp_path / "copies" / f"postgres-{label}-10"


def test_copies_of_records_of_another_form_are_kept_apart(program, tmp_path):
    data = {"record_count": 10, "records": "single-field"}
    store = program.Store(order(tmp_path, data=data))
    assert store.copy == tmp_path / "copies" / "postgres-17.11-10-single-field"


def test_a_run_cannot_move_the_port_or_the_log(program, tmp_path):
    settings = {"port": 1, "logging_collector": "on", "max_wal_size": "1GB"}
    lines = program.configuration(program.Store(order(tmp_path, settings=settings))).splitlines()
    assert [line for line in lines if line.startswith("port ")] == ["port = '5440'"]
    assert "logging_collector = 'off'" in lines
    assert "max_wal_size = '1GB'" in lines


@pytest.mark.parametrize(
    ("value", "written"),
    [("it's", "it''s"), ("a\\nb", "a\\\\nb"), (0.9, "0.9"), ("", "")],
)
def test_quotes_and_backslashes_reach_the_server_as_they_are(program, value, written):
    assert program.quoted(value) == written


def test_a_new_disk_has_data_of_its_own_and_a_loaded_copy_is_used(program, tmp_path, monkeypatch):
    monkeypatch.setattr(
        program.evaluation_program, "own", lambda path, *_: path.mkdir(parents=True, exist_ok=True)
    )
    made = []
    monkeypatch.setattr(
        program, "as_postgres", lambda *argv, **_: (made.append(argv), Path(argv[2]).mkdir())
    )
    store = program.Store(order(tmp_path))
    assert program.prepare_data(store) is False
    assert len(made) == 1
    assert program.UNIT_DATA.resolve() == store.data

    (store.copy).mkdir(parents=True)
    (store.copy / "kept").write_text("loaded")
    again = program.Store(order(tmp_path / "second") | {"copies": str(tmp_path / "copies")})
    assert program.prepare_data(again) is True
    assert len(made) == 1
    assert (again.data / "kept").read_text() == "loaded"
    assert program.UNIT_DATA.resolve() == again.data


def test_without_a_start_the_message_says_what_to_call(program):
    with pytest.raises(SystemExit, match="call start first"):
        program.settings()


def test_the_started_store_is_found_again(program, tmp_path):
    program.STATE.write_text(json.dumps(order(tmp_path, variant="stock")))
    assert program.read_state().unit == "sluice-postgres-17.11-stock@evaluation.service"


def test_a_stop_without_a_start_only_frees_the_disk(program, tmp_path):
    program.UNIT_DATA.parent.mkdir()
    program.UNIT_DATA.symlink_to(tmp_path)
    program.stop()
    assert not program.UNIT_DATA.is_symlink()


POOLED = {"pool.volume": "evaluation", "max_wal_size": "1GB"}


@pytest.fixture
def pooled(program, tmp_path, monkeypatch):
    """What is asked of `sluice pool`, systemd and the server by a run whose data is in a pool."""
    asked = []
    monkeypatch.setattr(program, "POOL_MOUNT", tmp_path / "mount")
    monkeypatch.setattr(program, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(program.evaluation_program, "pool", lambda *words: asked.append(words))
    monkeypatch.setattr(
        program.evaluation_program, "systemctl", lambda *words: asked.append(words) or "inactive"
    )
    monkeypatch.setattr(
        program.evaluation_program, "own", lambda path, *_: path.mkdir(parents=True, exist_ok=True)
    )
    monkeypatch.setattr(program, "mount_pool", lambda store: asked.append(("mount", store.volume)))
    monkeypatch.setattr(program.evaluation_program, "keep_journal", lambda *_: None)
    for name in ("wait_until_ready", "write_back", "make_objects"):
        monkeypatch.setattr(program, name, lambda store: 0.0)
    return asked


def begin(program, tmp_path, monkeypatch, settings):
    data = {"record_count": 10, "restore_from_copy": True}
    wanted = order(tmp_path, settings=settings, data=data) | {"node": "pg1"}
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(wanted)))
    program.start()
    return program.read_state()


def test_data_in_a_pool_begins_with_the_copy_and_its_volume_goes(
    program, tmp_path, monkeypatch, pooled
):
    (tmp_path / "copies" / "postgres-17.11-10").mkdir(parents=True)
    store = begin(program, tmp_path, monkeypatch, POOLED)
    assert store.data == tmp_path / "mount" / "data"
    assert store.volume.startswith("evaluation-pg1-")
    assert pooled.index(("mount", store.volume)) < pooled.index(("start", store.unit))
    # It is no setting of the server.
    assert "pool" not in (store.data / "postgresql.conf").read_text()
    program.stop()
    assert pooled[-3:] == [
        ("stop", program.POOL_UNIT),
        ("remove", "--recursive", store.volume, "/"),
        ("remove-volume", store.volume),
    ]


def test_what_is_loaded_for_a_copy_is_not_in_the_pool(program, tmp_path, monkeypatch, pooled):
    monkeypatch.setattr(program, "as_postgres", lambda *argv, **_: Path(argv[2]).mkdir())
    store = begin(program, tmp_path, monkeypatch, POOLED)
    assert store.data == tmp_path / "disk" / "data"
    program.stop()
    assert not [words for words in pooled if words[0] in ("mount", "remove-volume")]


def test_a_pool_that_does_not_answer_leaves_the_volume(
    program, tmp_path, monkeypatch, pooled, capsys
):
    def refuse(*words):
        raise SystemExit("the pool does not answer")

    (tmp_path / "copies" / "postgres-17.11-10").mkdir(parents=True)
    store = begin(program, tmp_path, monkeypatch, POOLED)
    monkeypatch.setattr(program.evaluation_program, "pool", refuse)
    program.stop()
    assert f"volume {store.volume} stays: the pool does not answer" in capsys.readouterr().err
