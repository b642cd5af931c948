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
