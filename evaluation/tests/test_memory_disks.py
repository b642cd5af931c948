"""Disks in memory for measurements."""

import os
from pathlib import Path

import pytest
from sluice_evaluation.bench.memory_disks import disk_models, memory_disks

TOP = Path(__file__).resolve().parents[2]


def test_models_are_those_of_the_test_bed():
    models = disk_models(TOP)
    assert {"hdd", "ssd", "throttle"} <= set(models)
    assert models["ssd"]["rate_bytes_per_second"] == 524288000


def test_there_are_none_without_memory(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(SystemExit, match="mount a tmpfs"), memory_disks(TOP, None, {}, 1 << 20):
        pass


def test_there_are_none_for_other_users(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with (
        pytest.raises(SystemExit, match="run it as root"),
        memory_disks(TOP, tmp_path, {}, 1 << 20),
    ):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="makes disks, as root")
def test_a_disk_is_there_until_it_is_not_needed(tmp_path):
    models = {"one": disk_models(TOP)["ssd"], "two": disk_models(TOP)["throttle"]}
    with memory_disks(TOP, tmp_path, models, 64 << 20) as disks:
        assert set(disks) == {"one", "two"}
        assert all(os.path.ismount(folder) for folder in disks.values())
        (disks["one"] / "file").write_text("content")
        assert not (disks["two"] / "file").exists()
    assert not any(os.path.ismount(folder) for folder in disks.values())
    assert list(tmp_path.iterdir()) == []
