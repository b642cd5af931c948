"""Bounds on the page cache of a unit, in control groups of both versions that are made of files."""

import errno
from pathlib import Path

import pytest
from ansible_collections.sluice.stores.plugins.module_utils.page_cache_limit import (
    ControlGroups,
    LimitError,
    group_to_reclaim,
    lift,
    limit,
)

INIT = 41
DAEMON = "4242"
UNIT = "sluice-hdfs-3.4.2-datanode@evaluation.service"
BOUND = 1 << 27


def machine(tmp_path, mounts, groups):
    """A /proc with these mounts, and a container whose process 1 is in these groups."""
    proc = tmp_path / "proc"
    (proc / str(INIT)).mkdir(parents=True)
    (proc / "mounts").write_text("".join(f"none {line} 0 0\n" for line in mounts))
    (proc / str(INIT) / "cgroup").write_text("".join(f"{line}\n" for line in groups))
    return ControlGroups(INIT, proc)


def unit_in(folder):
    inner = folder / "system.slice" / "system-x.slice" / UNIT
    inner.mkdir(parents=True)
    (inner / "cgroup.procs").write_text(f"{DAEMON}\n")
    return inner


@pytest.fixture
def version_1(tmp_path):
    top = tmp_path / "cgroup"
    mounts = [
        f"{top}/cpu cgroup rw,cpu",
        f"{top}/memory cgroup rw,relatime,memory",
        f"{top}/systemd cgroup rw,name=systemd",
        f"{top}/unified cgroup2 rw",
    ]
    groups = machine(
        tmp_path, mounts, ["4:memory:/pod/c1", "9:name=systemd:/pod/c1/init.scope", "0::/"]
    )
    (top / "memory/pod/c1").mkdir(parents=True)
    (top / "systemd/pod/c1").mkdir(parents=True)
    return groups, top


def test_version_1_gets_a_group_below_the_container_with_the_processes_of_the_unit(version_1):
    groups, top = version_1
    unit_in(top / "systemd/pod/c1")
    assert limit(groups, UNIT, BOUND)
    made = top / "memory/pod/c1" / UNIT
    assert (made / "memory.limit_in_bytes").read_text() == str(BOUND)
    assert (made / "cgroup.procs").read_text() == DAEMON
    assert not limit(groups, UNIT, BOUND)
    assert group_to_reclaim(groups, UNIT) == str(made)


def test_version_1_keeps_the_bound_until_the_processes_have_ended(version_1, monkeypatch):
    groups, top = version_1
    unit_in(top / "systemd/pod/c1")
    assert not lift(groups, UNIT)
    limit(groups, UNIT, BOUND)
    made = top / "memory/pod/c1" / UNIT
    with pytest.raises(LimitError, match=f"{DAEMON}.*stop it first"):
        lift(groups, UNIT)
    assert made.exists()
    # The kernel removes a group together with the files that it shows in it.
    (made / "cgroup.procs").write_text("")
    removed = []
    monkeypatch.setattr(type(made), "rmdir", lambda folder: removed.append(folder))
    assert lift(groups, UNIT)
    assert removed == [made]


def test_version_2_bounds_the_unit_by_what_it_has_and_the_page_cache(tmp_path):
    top = tmp_path / "cgroup"
    groups = machine(tmp_path, [f"{top} cgroup2 rw"], ["0::/machine.slice/c1/init.scope"])
    inner = unit_in(top / "machine.slice/c1")
    (inner / "memory.stat").write_text("anon 1000\nfile 900000\nkernel 24\n")
    assert limit(groups, UNIT, BOUND)
    assert (inner / "memory.max").read_text() == str(BOUND + 1024)
    assert group_to_reclaim(groups, UNIT) == ""
    assert not lift(groups, UNIT)


def test_version_1_takes_processes_that_start_and_end_meanwhile(version_1, monkeypatch):
    groups, top = version_1
    listed = unit_in(top / "systemd/pod/c1") / "cgroup.procs"
    listed.write_text("4242\n4243\n")
    group = top / "memory/pod/c1" / UNIT / "cgroup.procs"
    write_text = Path.write_text

    def kernel(path, text):
        """4242 starts 4244 while it is moved, and 4243 has ended."""
        if path != group:
            return write_text(path, text)
        write_text(listed, "4242\n4244\n")
        if text == "4243":
            raise ProcessLookupError(errno.ESRCH, "No such process")
        already = group.read_text() if group.exists() else ""
        return write_text(group, f"{already}{text}\n")

    monkeypatch.setattr(Path, "write_text", kernel)
    assert limit(groups, UNIT, BOUND)
    assert group.read_text() == "4242\n4244\n"


def test_a_unit_that_does_not_run_is_told(version_1):
    groups, _ = version_1
    with pytest.raises(LimitError, match=f"{UNIT} does not run .*start it"):
        limit(groups, UNIT, BOUND)


def test_a_controller_that_is_not_mounted_is_told(tmp_path):
    groups = machine(tmp_path, ["/somewhere cgroup rw,cpu"], ["4:memory:/c1"])
    with pytest.raises(LimitError, match="cgroup memory is not mounted"):
        groups.folder("memory")
