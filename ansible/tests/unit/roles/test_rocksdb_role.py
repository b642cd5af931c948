"""What the role rocksdb and the agents of its nodes write, made by Ansible from inventories."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from role_files import Host, task_of

COLLECTION = Path(__file__).parents[3]
FOUR, EIGHT, POOL = "local-rocksdb", "local-rocksdb-eight", "local-rocksdb-pool"
# What a user may set, together: each run of Ansible takes seconds.
CHANGED = {
    "rocksdb_programs": [
        {
            "instance": "orders",
            "unit": "orders.service",
            "plugin_options": {"remote": False, "minimum_input_bytes": 1048576},
            "database_options": {"max_background_jobs": 4, "paranoid_checks": True},
        }
    ]
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What is written for an inventory: folder by host; each inventory once."""
    made = {}

    def write(inventory: str, **extra) -> dict[str, Path]:
        key = (inventory, json.dumps(extra, sort_keys=True))
        if key not in made:
            made[key] = render(inventory, tmp_path_factory.mktemp("written"), extra)
        return made[key]

    return write


def render(inventory: str, folder: Path, extra: dict) -> dict[str, Path]:
    book = folder / "render.yml"
    book.write_text(yaml.safe_dump([play(folder)]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
    command += [f"--inventory={COLLECTION / 'inventories' / inventory}", "--connection=local"]
    command += [f"--extra-vars={json.dumps({'ansible_become': False} | extra)}"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {host.name: host for host in folder.iterdir() if host.is_dir()}


def variables_of(role: str, tasks: str) -> dict:
    """Defaults and variables of a role, by a list of its tasks, of which none is run."""
    named = {"name": f"sluice.stores.{role}", "tasks_from": tasks}
    return {"ansible.builtin.import_role": named, "when": False}


def play(folder: Path) -> dict:
    """Writes the files below a folder of each host, and does nothing else of the roles."""
    host = f"{folder}/{{{{ inventory_hostname }}}}"

    def write(role: str, template: str, name: str, **more) -> dict:
        source = COLLECTION / "roles" / role / "templates" / template
        return {
            "ansible.builtin.template": {
                "src": str(source),
                "dest": f"{host}/{name}",
                "mode": "0644",
            }
        } | more

    each = {"loop": "{{ rocksdb_programs }}"}
    tasks = [
        variables_of("rocksdb", "preflight"),
        variables_of("agent", "run"),
        {"ansible.builtin.file": {"path": host, "state": "directory", "mode": "0755"}},
        write("rocksdb", "environment.j2", "{{ item.instance }}.environment", **each),
        write("rocksdb", "unit.conf.j2", "{{ item.instance }}.conf", **each),
        write("agent", "agent.yml.j2", "agent.yml"),
    ]
    return {"hosts": "rocksdb", "gather_facts": False, "tasks": tasks}


def variables(file: Path) -> dict[str, str]:
    """What a shell takes from a file, which is what systemd takes from it."""
    command = ["env", "-i", "bash", "-c", 'set -a; . "$1"; LD_PRELOAD= env -0', "bash", str(file)]
    text = file.read_text()
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = dict(line.split("=", 1) for line in shown.split("\0") if line)
    # Given to env itself, the library would have to be there.
    preloaded = [line for line in text.splitlines() if line.startswith("LD_PRELOAD=")]
    found.update(line.split("=", 1) for line in preloaded)
    return found


def configuration(host: Path) -> dict:
    return yaml.safe_load((host / "agent.yml").read_text())


def test_a_program_of_java_gets_the_library_and_the_plug_in(written):
    found = variables(written(FOUR)["rd1"] / "ycsb.environment")
    assert found["LD_PRELOAD"] == "/opt/sluice/rocksdb/11.8.1/lib/librocksdb-preload.so.11.8.1"
    wanted = "compaction_service={id=sluice;instance=ycsb}"
    assert found["ROCKSDB_DB_OPTIONS_OVERRIDE"] == wanted


def test_stock_gets_the_library_alone(written):
    found = variables(written(FOUR, rocksdb_variant="stock")["rd1"] / "ycsb.environment")
    assert (
        found["LD_PRELOAD"] == "/opt/sluice/rocksdb/11.8.1-stock/lib/librocksdb-preload.so.11.8.1"
    )
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in found


def test_options_are_written_as_rocksdb_reads_them(written):
    found = variables(written(FOUR, **CHANGED)["rd1"] / "orders.environment")
    service = "{id=sluice;instance=orders;remote=false;minimum_input_bytes=1048576}"
    assert found["ROCKSDB_DB_OPTIONS_OVERRIDE"] == (
        f"compaction_service={service};max_background_jobs=4;paranoid_checks=true"
    )
    assert "LD_PRELOAD" not in found or not found["LD_PRELOAD"]


def test_a_unit_gets_the_file_and_the_group(written):
    text = (written(FOUR, **CHANGED)["rd1"] / "orders.conf").read_text()
    assert "EnvironmentFile=/etc/sluice/rocksdb/orders.environment\n" in text
    assert "SupplementaryGroups=sluice\n" in text


@pytest.mark.parametrize(("inventory", "nodes"), [(FOUR, 4), (EIGHT, 8)])
def test_each_node_gives_to_all_others(written, inventory, nodes):
    hosts = written(inventory)
    assert len(hosts) == nodes
    for name, host in hosts.items():
        client = configuration(host)["compaction"]["client"]
        others = {other: f"{other}:7411" for other in hosts if other != name}
        assert {peer["node"]: peer["address"] for peer in client["peers"]} == others
        assert client["threshold_share"] == 0.2


def test_each_node_takes_what_is_below_the_databases(written):
    for host in written(FOUR).values():
        worker = configuration(host)["compaction"]["worker"]
        assert worker["paths"] == ["/srv/sluice-shared/rocksdb"]
        assert worker["programs"][0]["rocksdb_series"] == "11.8"
        assert worker["programs"][0]["path"].startswith("/opt/sluice/rocksdb/11.8.")


def test_the_load_of_a_node_is_that_of_its_control_group(written):
    for host in written(FOUR).values():
        folders = configuration(host)["cpu_group_directories"]
        assert folders and all(folder.startswith("/sys/fs/cgroup") for folder in folders)


def test_a_program_is_told_its_volume_and_the_socket_of_its_agent(written):
    host = written(POOL)["rd1"]
    found = variables(host / "pooled.environment")["ROCKSDB_DB_OPTIONS_OVERRIDE"]
    socket = configuration(host)["pool"]["client"]["socket"]
    pool = f"pool_volume=databases;pool_socket={socket}"
    assert found == f"compaction_service={{id=sluice;instance=pooled;{pool}}}"


def test_four_nodes_hold_blocks_and_three_the_metadata(written):
    pools = {name: configuration(host)["pool"] for name, host in written(POOL).items()}
    assert [name for name in sorted(pools) if "metadata" in pools[name]] == ["rd1", "rd2", "rd3"]
    servers = [{"node": name, "address": f"{name}:7411"} for name in ("rd1", "rd2", "rd3", "rd4")]
    disk = yaml.safe_load(
        (COLLECTION / "inventories" / POOL / "group_vars" / "testbed.yml").read_text()
    )["testbed_disks"][0]
    for pool in pools.values():
        assert pool["server"]["directory"].startswith(f"{disk['path']}/")
        assert pool["client"]["servers"] == servers
        assert len(pool["client"]["voters"]) == 3


@pytest.mark.parametrize("inventory", [FOUR, EIGHT, POOL])
def test_quotas_leave_room_on_two_processors(inventory):
    file = COLLECTION / "inventories" / inventory / "hosts.yml"
    group = yaml.safe_load(file.read_text())["testbed"]
    common = group["vars"]["testbed_cpus"]
    quotas = [host.get("testbed_cpus", common) for host in group["hosts"].values()]
    assert round(sum(quotas), 3) <= 1.4


POOLED = {"rocksdb_programs": [{"instance": "a", "plugin_options": {"pool_volume": "v"}}]}


def test_stock_is_refused_where_the_database_is_in_a_pool():
    refusing = task_of(
        "rocksdb", "preflight.yml", "Refuse a database in a pool without the plug-in"
    )
    assert Host("rocksdb", "rd1", **POOLED).holds(refusing, "that")
    stock = Host("rocksdb", "rd1", rocksdb_variant="stock", **POOLED)
    assert not stock.holds(refusing, "that")
    assert "Set rocksdb_variant to patched" in stock.message(refusing)
    assert Host("rocksdb", "rd1", rocksdb_variant="stock").holds(refusing, "that")


def test_a_store_in_a_pool_needs_the_socket_of_its_agent_and_its_volume():
    host = Host("rocksdb", "rd1", **POOLED)
    [program] = host.value("_rocksdb_pooled_programs")
    looking = task_of("rocksdb", "pool.yml", "Look for the sockets of the agent")
    asked = host.templar(item=program).template(looking["ansible.builtin.stat"])
    assert asked["path"] == "/run/sluice/agent/pool.sock"
    sockets = task_of("rocksdb", "pool.yml", "Require them")
    for stat, accepted in (
        ({"exists": True, "issock": True}, True),
        ({"exists": True, "issock": False}, False),
        ({"exists": False}, False),
    ):
        assert host.holds(sockets, "that", item={"stat": stat, "item": program}) is accepted
    assert "agent_pool_client.socket" in host.message(sockets, item={"item": program})
    volumes = task_of("rocksdb", "pool.yml", "Require those of the programs")
    for names, accepted in ((["v", "w"], True), (["w"], False)):
        known = {"_rocksdb_pool_volumes": {"stdout": json.dumps({"volumes": names})}}
        assert host.holds(volumes, "that", **known) is accepted
