"""Real disks of every device model: what they leave, what they survive, and what they refuse."""

import mmap
import os
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sluice.stores.plugins.module_utils import disk_rig, disk_rigs
from conftest import MODELS

NBD_MODELS = ["hdd", "ssd", "throttle", "volatile"]


def start(rig):
    """As the module does it."""
    rig.require_fitting_image()
    rig.record()
    rig.start()
    return rig


def write(rig, text: str) -> None:
    """Durable, or an OSError."""
    with (rig.mount_point / "file").open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read(rig) -> str:
    return (rig.mount_point / "file").read_text()


def mounts_below(directory: Path, process: str = "self") -> list[str]:
    mounts = Path(f"/proc/{process}/mountinfo").read_text().splitlines()
    return [line for line in mounts if str(directory) in line]


def processes_of(directory: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        if str(directory).encode() in command:
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize("model", MODELS)
def test_stop_leaves_the_content_and_nothing_else(make_rig, model):
    rig = start(make_rig(model))
    assert rig.is_healthy()
    write(rig, "kept")
    rig.stop()
    assert not rig.is_healthy()
    assert mounts_below(rig.directory) == []
    assert processes_of(rig.directory) == []
    assert str(rig.directory) not in subprocess.check_output(["losetup", "--list"], text=True)
    start(rig)
    assert read(rig) == "kept"


@pytest.mark.parametrize("model", MODELS)
def test_the_record_is_enough_to_take_a_disk_down(make_rig, model):
    rig = start(make_rig(model))
    found = disk_rigs.recorded(rig.directory)
    assert found.disk == rig.disk
    found.stop()
    found.remove_image()
    assert mounts_below(rig.directory) == []
    assert not rig.image.exists()


@pytest.mark.parametrize("model", NBD_MODELS)
def test_a_failed_disk_refuses_writes_and_can_be_repaired(make_rig, model):
    rig = start(make_rig(model))
    write(rig, "kept")
    rig.fail()
    assert not rig.is_healthy()
    with pytest.raises(OSError):
        write(rig, "lost")
    rig.stop()
    start(rig)
    assert rig.is_healthy()
    assert read(rig) == "kept"


@pytest.mark.parametrize(("model", "found"), [("ssd", b"after"), ("volatile", b"before")])
def test_what_a_volatile_disk_has_not_flushed_is_lost_when_it_fails(make_rig, model, found):
    rig = start(make_rig(model))
    block_bytes = 4096
    with mmap.mmap(-1, block_bytes) as block:  # direct I/O wants whole, aligned blocks
        file = os.open(rig.mount_point / "block", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
        block.write(b"before".ljust(block_bytes))
        os.pwrite(file, block, 0)
        os.fsync(file)
        block.seek(0)
        block.write(b"after".ljust(block_bytes))
        os.pwrite(file, block, 0)
        rig.fail()
        os.close(file)
    rig.stop()
    start(rig)
    assert (rig.mount_point / "block").read_bytes().rstrip() == found


def test_a_directory_cannot_fail(make_rig):
    with pytest.raises(disk_rig.DiskError, match="cannot fail on order"):
        make_rig("none").fail()


@pytest.mark.parametrize("model", NBD_MODELS)
def test_the_rate_changes_while_the_disk_runs(make_rig, model):
    rig = start(make_rig(model))
    assert rig.rate() == MODELS[model]["rate_bytes_per_second"]
    rig.set_rate(1_000_000)
    assert rig.rate() == 1_000_000
    assert rig.is_healthy()


def test_a_directory_has_no_rate(make_rig):
    with pytest.raises(disk_rig.DiskError, match="has no rate"):
        make_rig("none").set_rate(1)


@pytest.mark.parametrize("model", MODELS)
def test_a_copy_in_another_mount_namespace_does_not_keep_the_disk(make_rig, model):
    rig = start(make_rig(model))
    # `cat` ends with this test; until then its namespace would hold the disk.
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation=private", "cat"], stdin=subprocess.PIPE
    )
    try:
        disk_rig.wait_until(
            lambda: Path(f"/proc/{holder.pid}/comm").read_text() == "cat\n", "the namespace"
        )
        assert disk_rig.mount_source(rig.mount_point, str(holder.pid))
        rig.stop()
        assert mounts_below(rig.directory, str(holder.pid)) == []
        assert processes_of(rig.directory) == []
        assert str(rig.directory) not in subprocess.check_output(["losetup", "--list"], text=True)
        assert holder.poll() is None
    finally:
        holder.communicate()


@pytest.mark.parametrize("model", NBD_MODELS)
@pytest.mark.parametrize("command", ["nbdfuse", "losetup", "mount"])
def test_a_start_that_fails_half_way_can_be_undone(make_rig, monkeypatch, model, command):
    rig = make_rig(model)
    run = disk_rig.run

    def run_without(*words):
        if words[0] == command:
            raise disk_rig.DiskError(command)
        return run(*words)

    if command == "nbdfuse":
        monkeypatch.setattr(type(rig), "start_nbdfuse", lambda _: run_without("nbdfuse"))
    monkeypatch.setattr(disk_rig, "run", run_without)
    with pytest.raises(disk_rig.DiskError, match=command):
        start(rig)
    monkeypatch.undo()
    rig.stop()
    assert mounts_below(rig.directory) == []
    assert processes_of(rig.directory) == []


def test_a_process_that_reuses_an_id_is_left_alone(make_rig):
    rig = start(make_rig("hdd"))
    rig.stop()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as stranger:
        (rig.directory / "nbdkit.pid").write_text(str(stranger.pid))
        assert rig.process("nbdkit") is None
        rig.stop()
        assert stranger.poll() is None
        stranger.stdin.close()


def test_an_image_of_another_size_is_refused(make_rig):
    start(make_rig("throttle")).stop()
    with pytest.raises(disk_rig.DiskError, match="make the disk anew"):
        start(make_rig("throttle", size_bytes=32 * 1024 * 1024))


@pytest.mark.parametrize(("before", "after"), [("none", "hdd"), ("hdd", "none")])
def test_content_of_another_kind_is_refused(make_rig, before, after):
    start(make_rig(before)).stop()
    with pytest.raises(disk_rig.DiskError, match="make the disk anew"):
        start(make_rig(after))


def test_a_damaged_image_is_refused(make_rig):
    rig = start(make_rig("throttle"))
    rig.stop()
    with rig.image.open("r+b") as image:
        image.write(bytes(16 * 1024 * 1024))
    with pytest.raises(disk_rig.DiskError, match="is damaged"):
        start(rig)


def test_a_path_too_long_for_a_socket_is_refused_before_anything_is_made(tmp_path):
    directory = tmp_path / ("x" * 100)
    disk = disk_rig.DiskSpecification(str(tmp_path / "image"), 1, MODELS["hdd"])
    with pytest.raises(disk_rig.DiskError, match="testbed_runtime_directory"):
        disk_rigs.wanted(directory, disk).start()
    assert not (tmp_path / "image").exists()


def test_an_unknown_rig_is_refused(tmp_path):
    disk = disk_rig.DiskSpecification(str(tmp_path / "image"), 1, {"rig": "tape"})
    with pytest.raises(disk_rig.DiskError, match="there are directory, nbd"):
        disk_rigs.wanted(tmp_path, disk)


def test_where_no_disk_was_made_there_is_no_record(tmp_path):
    assert disk_rigs.recorded(tmp_path) is None


QUEUE = {"scheduler": "mq-deadline", "nr_requests": 8, "max_sectors_kb": 128}


def queue_of(rig) -> list[str]:
    """What of a queue is in force, and the bound on dirty pages."""
    block = Path("/sys/block", Path(rig.loop_device()).name)
    scheduler = (block / "queue/scheduler").read_text()
    chosen = scheduler[scheduler.index("[") + 1 : scheduler.index("]")]
    rest = [
        (block / "queue" / name).read_text().strip() for name in ("nr_requests", "max_sectors_kb")
    ]
    strict = block / "bdi/strict_limit"
    return [chosen, *rest, strict.read_text().strip() if strict.exists() else "0"]


def test_a_queue_is_that_of_the_model_and_nothing_of_it_is_left_for_the_next_disk(make_rig):
    untouched = queue_of(first := start(make_rig("throttle")))
    first.stop()
    tuned = make_rig("throttle", queue=QUEUE, most_dirty_bytes=4 << 20)
    assert untouched[0] == "none"
    assert queue_of(start(tuned)) == ["mq-deadline", "8", "128", "1"]
    tuned.stop()
    assert queue_of(start(make_rig("throttle"))) == untouched


@pytest.mark.parametrize(
    ("queue", "says"),
    [({"depth": 8}, "no depth; it has scheduler"), ({"scheduler": "fair"}, "does not take fair")],
)
def test_a_queue_that_cannot_be_is_refused(make_rig, queue, says):
    rig = make_rig("throttle", queue=queue)
    with pytest.raises(disk_rig.DiskError, match=says):
        start(rig)
    rig.stop()
    assert mounts_below(rig.directory) == []
