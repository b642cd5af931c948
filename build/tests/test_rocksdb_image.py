"""The image of RocksDB: what its entry point runs, and that in containers of their own."""

import json
import subprocess
from dataclasses import dataclass

import pytest
from images import ROOT, Podman, sluice_dist, wait_until

ENTRYPOINT = ROOT / "build/stores/rocksdb/image/rootfs/usr/local/sbin/rocksdb-entrypoint"
VARIANTS = ("patched", "stock")
DATABASE = "--db=/tmp/orders"


def entrypoint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ENTRYPOINT), *arguments]
    return subprocess.run(
        command,
        env={"PATH": "/usr/bin:/bin", **environment},
        text=True,
        capture_output=True,
        check=False,
    )


def test_the_usage_names_worker_and_tools():
    done = entrypoint("--help")
    assert done.returncode == 0
    for word in ("IMAGE [worker]", "IMAGE ldb", "db_bench", "bin/sluice-compact"):
        assert word in done.stdout


def test_another_command_is_run_as_it_is():
    done = entrypoint("echo", "two words", "last")
    assert (done.returncode, done.stdout) == (0, "two words last\n")


@pytest.mark.parametrize("arguments", [(), ("worker",)])
def test_an_agent_without_configuration_is_refused(arguments: tuple[str, ...]):
    done = entrypoint(*arguments, SLUICE_AGENT_CONFIG="/absent/agent.yml")
    assert done.returncode == 64
    assert "there is no /absent/agent.yml" in done.stderr
    assert "what to do:" in done.stderr


@dataclass
class Made:
    """One release: what `show` says, and its image."""

    facts: dict
    reference: str


@pytest.fixture(scope="module")
def made(environment: dict[str, str]) -> dict[str, Made]:
    """Package and image of each variant, up to date."""
    found = {}
    for variant in VARIANTS:
        release = ["rocksdb", "--variant", variant, "-o", "json"]
        sluice_dist("package", *release, environment=environment)
        image = json.loads(sluice_dist("image", *release, environment=environment))
        facts = json.loads(sluice_dist("show", *release, environment=environment))
        found[variant] = Made(facts, image["reference"])
    return found


def run(podman: Podman, one: Made, *command: str) -> str:
    return podman.call("run", "--rm", one.reference, *command).stdout


@pytest.mark.image
@pytest.mark.parametrize("variant", VARIANTS)
def test_labels_are_those_of_show(podman: Podman, made: dict[str, Made], variant: str):
    labels = podman.inspect_image(made[variant].reference)["Labels"]
    assert made[variant].facts["labels"].items() <= labels.items()


@pytest.mark.image
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_tools_run(podman: Podman, made: dict[str, Made], variant: str):
    script = f"ldb {DATABASE} --create_if_missing put key value && ldb {DATABASE} get key"
    assert run(podman, made[variant], "sh", "-euc", script).split() == ["OK", "value"]


@pytest.mark.image
def test_the_patched_library_has_the_plug_in_and_its_worker(podman: Podman, made: dict[str, Made]):
    prefix = made["patched"].facts["prefix"]
    said = run(podman, made["patched"], "sh", "-c", "sluice-compact </dev/null || true")
    started = json.loads(said.splitlines()[0])["started"]
    assert started["rocksdb_version"] == {"major": 11, "minor": 8, "patch": 1}
    database = (
        f"export ROCKSDB_DB_OPTIONS_OVERRIDE='compaction_service={{id=sluice;remote=false}}';"
        f"ldb {DATABASE} --create_if_missing put key value; grep -h OVERRIDE /tmp/orders/LOG*"
    )
    assert "(ignored unless OK): OK" in run(podman, made["patched"], "sh", "-euc", database)
    assert prefix in run(podman, made["patched"], "sh", "-c", "command -v sluice-compact")


@pytest.mark.image
def test_the_agent_is_inside_and_not_root(podman: Podman, made: dict[str, Made]):
    container = podman.start(made["patched"].reference, options=[])
    wait_until("the container ended", lambda: container.state()["Status"] == "exited")
    assert container.state()["ExitCode"] == 64
    assert "what to do:" in container.log()
    # A configuration that says nothing: the agent itself refuses it, as user sluice.
    script = (
        "mkdir -p /etc/sluice/agent; echo '{}' > /etc/sluice/agent/agent.yml;"
        "rocksdb-entrypoint worker; echo $?; stat -c %U /run/sluice/agent /var/lib/sluice-agent"
    )
    said = run(podman, made["patched"], "sh", "-c", script).split()
    assert said[-2:] == ["sluice", "sluice"]
    assert said[-3] not in ("0", "64")


@pytest.mark.image
def test_the_image_is_a_node_too(podman: Podman, made: dict[str, Made]):
    node = podman.node(made["patched"].reference)
    node.wait_until_healthy()
    assert node.output("systemctl", "is-system-running") == "running"
    listed = node.output("systemctl", "list-unit-files", "--no-legend", "sluice-agent.service")
    assert listed.startswith("sluice-agent.service")
