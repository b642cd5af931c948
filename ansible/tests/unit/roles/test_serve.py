"""What is restarted for a server that does not serve, by the role's own tasks.

Modules that act on files stand in for those that act on units.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[3]
ROLE = COLLECTION / "roles" / "zookeeper"
# What stands in for a module sees the files of its host, by HOST and FOLDER of the environment.
STAND_INS = {
    "sluice.stores.unit_staleness": (
        "found = {'reasons': ['new settings'] if (folder / f'{host}-stale').exists() else []}"
    ),
    # One that waits for the other serves when that one does.
    "sluice.stores.zookeeper_status": (
        "serving = [(folder / f'{name}-serves').exists() for name in ('hb1', 'hb2')]\n"
        "found = {'available': all(serving), 'problem': 'no quorum'}"
    ),
    "ansible.builtin.systemd_service": (
        "(folder / f'{host}-restarted').touch()\n"
        "if not (folder / 'hopeless').exists(): (folder / f'{host}-serves').touch()\n"
        "found = {'changed': True}"
    ),
}
MODULE = """#!{python}
# WANT_JSON
import json, os, pathlib
folder, host = pathlib.Path(os.environ["FOLDER"]), os.environ["HOST"]
{body}
print(json.dumps(found))
"""


def prepare(folder: Path) -> Path:
    """A play over two hosts at once, as in site.yml, of the tasks with stand-ins."""
    (folder / "library").mkdir()
    texts = {name: (ROLE / "tasks" / f"{name}.yml").read_text() for name in ("serve", "wait")}
    for number, (module, body) in enumerate(STAND_INS.items()):
        name = f"stand_in_{number}"
        file = folder / "library" / name
        file.write_text(MODULE.format(python=sys.executable, body=body))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        texts = {key: text.replace(f"{module}:", f"{name}:") for key, text in texts.items()}
    for key, text in texts.items():
        (folder / f"{key}.yml").write_text(text)
    play = {
        "hosts": "hb1,hb2",
        "gather_facts": False,
        "any_errors_fatal": True,
        "vars_files": [str(ROLE / part / "main.yml") for part in ("defaults", "vars")],
        "environment": {"FOLDER": str(folder), "HOST": "{{ inventory_hostname }}"},
        "tasks": [{"ansible.builtin.include_tasks": "serve.yml"}],
    }
    book = folder / "book.yml"
    book.write_text(yaml.safe_dump([play]))
    return book


def run(folder: Path) -> subprocess.CompletedProcess:
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(prepare(folder))]
    command += [f"--inventory={COLLECTION / 'inventories' / 'local-hbase-three'}"]
    command += ["--connection=local", "--extra-vars=zookeeper_wait_seconds=1"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    environment["ANSIBLE_LIBRARY"] = str(folder / "library")
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("there", "restarted", "goes_on"),
    [
        # The other one has nothing to read again, and waits for this one.
        (["hb1-stale", "hb2-serves"], ["hb1"], True),
        # Who serves waits for its turn.
        (["hb1-stale", "hb2-stale", "hb1-serves", "hb2-serves"], [], True),
        # Nothing that a restart would change.
        (["hb2-serves"], [], False),
        (["hb1-stale", "hb2-serves", "hopeless"], ["hb1"], False),
    ],
)
def test_what_is_restarted_for_a_server_that_does_not_serve(tmp_path, there, restarted, goes_on):
    for name in there:
        (tmp_path / name).touch()
    done = run(tmp_path)
    assert (done.returncode == 0) is goes_on, done.stdout + done.stderr
    assert [
        name for name in ("hb1", "hb2") if (tmp_path / f"{name}-restarted").exists()
    ] == restarted
    # Printed with breaks between words.
    told = " ".join(done.stdout.split())
    assert ("systemctl restart sluice-zookeeper-3.8.4@main.service" in told) is not goes_on
