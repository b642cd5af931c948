"""How package files come from the control host to a node."""

from pathlib import Path

import pytest
from role_files import Host, task_of

SERVER, PLUGIN = "sluice-postgres-17.11", "sluice-postgres-17.11-plugin"
# What registers a copy under --check, which tells no name of it.
PREDICTED = {"results": [{"changed": True}, {"changed": True}]}


def folder_of(path: Path, *names: str) -> str:
    for name in names:
        (path / name).touch()
    return str(path)


@pytest.fixture
def folder(tmp_path) -> str:
    stock = f"{SERVER}-stock_17.11+1_amd64.deb"
    return folder_of(tmp_path, f"{PLUGIN}_17.11+3_all.deb", f"{SERVER}_17.11+2_amd64.deb", stock)


def postgres(folder: str) -> tuple[Host, str, str]:
    host = Host("postgres", "pg1", postgres_packages_dir=folder, _postgres_copied=PREDICTED)
    return host, "install.yml", "_postgres_installed_versions"


def store_package(folder: str) -> tuple[Host, str, str]:
    known = {"store_package_dir": folder, "store_package_names": [SERVER, PLUGIN]}
    host = Host("store_package", "pg1", **known, _store_package_copied=PREDICTED)
    return host, "files.yml", "_store_package_versions"


@pytest.mark.parametrize("role", [postgres, store_package])
@pytest.mark.parametrize(
    ("code", "installed", "replaced"),
    [
        (0, ["17.11+2", "17.11+3"], False),
        (0, ["17.11+2", "17.11+2"], True),
        # One of them is not installed.
        (1, ["17.11+2"], False),
    ],
)
def test_check_predicts_whether_packages_are_replaced(folder, role, code, installed, replaced):
    host, file, versions = role(folder)
    task = task_of(role.__name__, file, "Replace the packages at once")
    known = {versions: {"rc": code, "stdout_lines": installed}}
    assert host.holds(task, **known) is replaced
    argv = host.templar(task, **known).template(task["ansible.builtin.command"]["argv"])
    cache = "/var/cache/sluice/packages"
    files = [f"{cache}/{SERVER}_17.11+2_amd64.deb", f"{cache}/{PLUGIN}_17.11+3_all.deb"]
    assert argv[-2:] == files


@pytest.mark.parametrize(
    ("installed", "replaced"), [(["3.1.0+1", "11.8.1+2"], False), (["3.1.0+1", "11.8.1+1"], True)]
)
def test_packages_that_are_there_stay_in_whatever_order_they_are_installed(
    tmp_path, installed, replaced
):
    """Ignite's comes after RocksDB's, which dpkg-query prints after it."""
    names = ["sluice-rocksdb-11.8.1", "sluice-ignite-3.1.0"]
    folder = folder_of(tmp_path, f"{names[0]}_11.8.1+2_amd64.deb", f"{names[1]}_3.1.0+1_all.deb")
    host = Host("store_package", "ig1", store_package_dir=folder, store_package_names=names)
    task = task_of("store_package", "files.yml", "Replace the packages at once")
    known = {"_store_package_versions": {"rc": 0, "stdout_lines": installed}}
    assert host.holds(task, **known) is replaced
    argv = host.templar(task, **known).template(task["ansible.builtin.command"]["argv"])
    assert [Path(word).name.split("_")[0] for word in argv[-2:]] == names


CONTROL = [f"sluice-control_0.1.0+{number}_amd64.deb" for number in range(2)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "holds no files sluice-control_*.deb, and one is needed. Make it"),
        (CONTROL[:1], ""),
        # Any of them could be the older one.
        (CONTROL, "holds 2 files sluice-control_*.deb, and one is needed. Remove"),
    ],
)
def test_the_package_of_the_control_plane_is_the_only_one_of_its_folder(tmp_path, names, said):
    host = Host("control_package", "pg1", control_package_dir=folder_of(tmp_path, *names))
    task = task_of("control_package", "main.yml", "Check the package file on the control host")
    assert host.holds(task, "that") is (not said)
    assert said in host.message(task)


@pytest.mark.parametrize(
    ("version", "package", "seconds"),
    [("", "sluice-control", 86400), ("0.1.0+2", "sluice-control=0.1.0+2", 0)],
)
def test_the_control_plane_is_upgraded_by_name_to_the_version_asked_for(version, package, seconds):
    name = "Install the package from the node's own package sources"
    module = task_of("control_package", "main.yml", name)["ansible.builtin.apt"]
    asked = Host("control_package", "pg1", control_package_version=version).templar()
    installed = asked.template(module)
    assert (installed["name"], installed["cache_valid_time"]) == (package, seconds)
    # The way back is to a former version.
    assert installed["allow_downgrade"] is True
