"""The program that runs RocksDB for a run: what the load is told, what is kept, what is refused."""

import importlib.util
import io
import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "ansible/roles/rocksdb/files/evaluation_store.py"


@pytest.fixture
def program(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("rocksdb_evaluation_store", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "STATE", tmp_path / "state.json")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(module, "INSTALLED", tmp_path / "opt")
    monkeypatch.setattr(module, "own", lambda path, user: path.mkdir(parents=True, exist_ok=True))
    return module


def order(tmp_path, **run):
    plan = {"version": "11.8.1", "variant": "patched", "settings": {}, "data": {"record_count": 10}}
    return {
        "run": plan | run,
        "node": "rd2",
        "directory": str(tmp_path / "databases"),
        "copies": str(tmp_path / "copies"),
        "user": "ycsb",
        "java_options": "-Xmx1m",
    }


def test_each_node_has_a_database_and_each_variant_a_copy(program, tmp_path):
    stock = program.Store(order(tmp_path, variant="stock"))
    assert stock.directory == tmp_path / "databases" / "rd2"
    assert stock.copy == tmp_path / "copies" / "rocksdb-11.8.1-stock-10"
    assert stock.library == tmp_path / "opt/11.8.1-stock/lib/librocksdb-preload.so.11.8.1"


def test_settings_go_where_their_prefix_says(program, tmp_path):
    settings = {
        "database.max_background_jobs": 2,
        "family.write_buffer_size": 4194304,
        "plugin.remote": "true",
        "binding.rocksdb.batchsize": 5,
    }
    store = program.Store(order(tmp_path, settings=settings))
    told = store.properties()
    assert told["rocksdb.databaseoptions"].startswith("max_background_jobs=2;")
    assert "stats_dump_period_sec=1" in told["rocksdb.databaseoptions"].split(";")
    assert told["rocksdb.familyoptions"] == "write_buffer_size=4194304"
    assert told["rocksdb.batchsize"] == "5"
    environment = store.environment()
    assert environment["ROCKSDB_DB_OPTIONS_OVERRIDE"] == (
        "compaction_service={id=sluice;instance=evaluation;remote=true}"
    )
    assert environment["TZ"] == "UTC"


@pytest.mark.parametrize("change", [{"variant": "stock"}, {"settings": {}}])
def test_stock_and_runs_without_its_options_have_no_plug_in(program, tmp_path, change):
    store = program.Store(order(tmp_path, **({"settings": {"plugin.remote": "true"}} | change)))
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in store.environment()


def started(program, tmp_path, monkeypatch, **run):
    document = order(tmp_path, **run)
    library = program.Store(document).library
    library.parent.mkdir(parents=True, exist_ok=True)
    library.touch()
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(document)))
    return program.start()


def test_a_saved_database_is_used_and_its_logs_are_not(program, tmp_path, monkeypatch):
    assert started(program, tmp_path, monkeypatch)["restored_from_copy"] is False
    database = program.read_state().directory
    (database / "CURRENT").write_text("MANIFEST-1")
    (database / "LOG").write_text("of the load")
    program.save()
    assert started(program, tmp_path, monkeypatch)["restored_from_copy"] is True
    assert {path.name for path in database.iterdir()} == {"CURRENT"}


def test_a_copy_is_loaded_alike_whichever_run_comes_first(program, tmp_path, monkeypatch):
    run = {
        "settings": {
            "family.disable_auto_compactions": "true",
            "family.write_buffer_size": 1,
            "plugin.remote": "true",
        },
        "data": {"record_count": 10, "restore_from_copy": True},
    }
    started(program, tmp_path, monkeypatch, **run)
    loading = program.read_state()
    assert loading.properties()["rocksdb.familyoptions"] == "write_buffer_size=1"
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in loading.environment()
    program.save()
    started(program, tmp_path, monkeypatch, **run)
    told = program.read_state().properties()["rocksdb.familyoptions"]
    assert told == "disable_auto_compactions=true;write_buffer_size=1"
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" in program.read_state().environment()


def test_logs_on_another_disk_are_made_and_removed_with_the_database(
    program, tmp_path, monkeypatch
):
    run = {"data": {"record_count": 10, "restore_from_copy": True}}
    slow = tmp_path / "disk" / "wal"
    run["settings"] = {"database.wal_dir": str(slow)}
    # The load is for all runs: its logs are in the database.
    started(program, tmp_path, monkeypatch, **run)
    database = program.read_state().directory
    (database / "000007.log").write_text("logged")
    program.save()
    program.stop()
    assert not slow.exists()

    with pytest.raises(SystemExit, match="slow disk"):
        started(program, tmp_path, monkeypatch, **run)
    slow.mkdir(parents=True)
    (slow / "000003.log").touch()
    started(program, tmp_path, monkeypatch, **run)
    assert [log.name for log in slow.iterdir()] == ["000007.log"]
    assert not list(database.glob("*.log"))
    program.stop()
    assert not slow.exists()


def test_logs_are_kept_in_the_order_of_the_openings(program, tmp_path, monkeypatch):
    started(program, tmp_path, monkeypatch)
    database = program.read_state().directory
    for name in ("LOG", "LOG.old.1795424200000002", "LOG.old.1795424200000001"):
        (database / name).write_text(name)
    program.stop()
    kept = sorted((tmp_path / "logs").iterdir())
    assert [path.name for path in kept] == ["rd2-01.log", "rd2-02.log", "rd2-03.log"]
    assert [path.read_text()[-1] for path in kept] == ["1", "2", "G"]
    assert not database.exists()
    assert program.stop() == {"logs": str(tmp_path / "logs")}


def test_settings_are_those_of_the_newest_options_file(program, tmp_path, monkeypatch):
    started(program, tmp_path, monkeypatch)
    database = program.read_state().directory
    (database / "OPTIONS-000005").write_text("[DBOptions]\n  max_background_jobs=1\n")
    (database / "OPTIONS-000009").write_text(
        '[Version]\n  x=1\n[DBOptions]\n  max_background_jobs=2\n[CFOptions "default"]\n  a=b=c\n'
    )
    assert program.settings() == {"database.max_background_jobs": "2", "family.a": "b=c"}


def test_what_cannot_be_is_refused(program, tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="call start first"):
        program.read_state()
    with pytest.raises(SystemExit, match="redo_after_kill"):
        program.restart_killed()
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(order(tmp_path))))
    with pytest.raises(SystemExit, match="install the package"):
        program.start()


class FakePool:
    """Answers the commands about a pool as `sluice pool` does, with files in memory."""

    def __init__(self):
        self.volumes: dict[str, dict[str, str | None]] = {}
        self.is_down = False

    def __call__(self, command, volume, *arguments):
        if self.is_down:
            raise SystemExit("the pool does not answer")
        return getattr(self, command.replace("-", "_"))(volume, *arguments) or ""

    def create_volume(self, volume):
        assert volume not in self.volumes and len(volume) <= 63
        self.volumes[volume] = {}

    def remove_volume(self, volume):
        assert not self.volumes.pop(volume), "it has files"

    def make_directory(self, volume, path):
        assert str(Path(path).parent) in ("/", *self.volumes[volume])
        self.volumes[volume][path] = None

    def put(self, volume, file, path):
        assert str(Path(path).parent) in self.volumes[volume]
        self.volumes[volume][path] = Path(file).read_text()

    def get(self, volume, path, file):
        Path(file).write_text(self.volumes[volume][path])

    def remove(self, option, volume, path):
        assert (option, path) == ("--recursive", "/")
        self.volumes[volume].clear()

    def list(self, volume, path, *_):
        files = self.volumes[volume].items()
        entries = [
            {"name": Path(name).name, "is_directory": text is None}
            for name, text in files
            if str(Path(name).parent) == path
        ]
        return json.dumps({"entries": entries})


POOLED = {"plugin.remote": "false", "plugin.pool_volume": "evaluation"}


@pytest.fixture
def pooled(program, tmp_path, monkeypatch):
    """A run whose database is in a pool, which has begun from a copy."""
    fake = FakePool()
    monkeypatch.setattr(program.evaluation_program, "pool", fake)
    monkeypatch.setattr(program, "MESSAGES", tmp_path / "messages")
    data = {"record_count": 10, "restore_from_copy": True}
    copy = program.Store(order(tmp_path, settings=POOLED, data=data)).copy
    copy.mkdir(parents=True)
    files = ("CURRENT", "MANIFEST-000001", "OPTIONS-000003", "000009.sst", "LOG", "LOCK")
    for name in files:
        (copy / name).write_text(f"loaded {name}")
    started(program, tmp_path, monkeypatch, settings=POOLED, data=data)
    return fake


def test_a_database_in_a_pool_begins_with_the_copy(program, tmp_path, pooled):
    [(volume, files)] = pooled.volumes.items()
    assert volume.startswith("evaluation-rd2-")
    database = tmp_path / "databases" / "rd2"
    put = {name: text for name, text in files.items() if text is not None}
    wanted = ("CURRENT", "MANIFEST-000001", "OPTIONS-000003", "000009.sst")
    assert put == {f"{database}/{name}": f"loaded {name}" for name in wanted}
    # What the load looks for on the node.
    assert sorted(path.name for path in database.iterdir()) == ["CURRENT", "MANIFEST-000001"]
    store = program.read_state()
    options = store.environment()["ROCKSDB_DB_OPTIONS_OVERRIDE"]
    assert f"pool_volume={volume};" in options
    assert f"pool_local_directory={tmp_path / 'messages'}" in options
    told = store.properties()["rocksdb.databaseoptions"].split(";")
    assert f"db_log_dir={tmp_path / 'messages'}" in told


def test_what_a_database_in_a_pool_tells_is_kept_and_its_volume_removed(program, tmp_path, pooled):
    [files] = pooled.volumes.values()
    folder = tmp_path / "databases" / "rd2"
    files[f"{folder}/OPTIONS-000011"] = "[DBOptions]\n  max_background_jobs=3\n"
    assert program.settings()["database.max_background_jobs"] == "3"
    (tmp_path / "messages").mkdir(exist_ok=True)
    for name in ("x_rd2_LOG", "x_rd2_LOG.old.1"):
        (tmp_path / "messages" / name).write_text(name)
    program.stop()
    logs = [path.read_text() for path in sorted((tmp_path / "logs").iterdir())]
    assert logs == ["x_rd2_LOG.old.1", "x_rd2_LOG"]
    assert pooled.volumes == {}


def test_a_run_whose_agents_failed_leaves_its_volume(program, pooled, capsys):
    pooled.is_down = True
    program.stop()
    assert len(pooled.volumes) == 1
    assert "stays: the pool does not answer" in capsys.readouterr().err


def test_data_is_loaded_on_the_node(program, tmp_path):
    store = program.Store(order(tmp_path, settings=POOLED) | {"is_loading": True})
    assert store.volume == "" and "database.db_log_dir" not in store.settings
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in store.environment()


def test_a_database_in_a_pool_without_a_copy_is_refused(program, tmp_path, monkeypatch):
    data = {"record_count": 10, "restore_from_copy": False}
    with pytest.raises(SystemExit, match="begins with a copy"):
        started(program, tmp_path, monkeypatch, settings=POOLED, data=data)
