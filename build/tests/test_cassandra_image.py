"""The image of Cassandra: what its entry point runs, and that in containers of their own."""

import json
import subprocess
from dataclasses import dataclass

import pytest
from images import ROOT, Container, Podman, sluice_dist, wait_until

ENTRYPOINT = ROOT / "build/stores/cassandra/image/rootfs/usr/local/sbin/cassandra-entrypoint"
VARIANTS = ("patched", "stock")
SMALL = "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
SOCKET = "/run/sluice/cassandra/main.sock"


def entrypoint(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ENTRYPOINT), *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test_the_usage_names_what_can_be_run_and_set():
    done = entrypoint("--help")
    assert done.returncode == 0
    for word in ("IMAGE [serve]", "/sbin/init", "CASSANDRA_JAVA_OPTIONS", "CASSANDRA_PLUGIN"):
        assert word in done.stdout


def test_another_command_is_run_as_it_is():
    done = entrypoint("echo", "two words", "last")
    assert (done.returncode, done.stdout) == (0, "two words last\n")


@dataclass
class Made:
    """One release: what `show` says, and its image."""

    facts: dict
    reference: str


@pytest.fixture(scope="module")
def made(environment: dict[str, str]) -> dict[str, Made]:
    """Packages and image of each variant, up to date."""
    found = {}
    for variant in VARIANTS:
        release = ["cassandra", "--variant", variant, "-o", "json"]
        sluice_dist("package", *release, environment=environment)
        image = json.loads(sluice_dist("image", *release, environment=environment))
        facts = json.loads(sluice_dist("show", *release, environment=environment))
        found[variant] = Made(facts, image["reference"])
    return found


def serve(podman: Podman, one: Made, volume: str, **settings: str) -> Container:
    options = [f"--volume={volume}:/var/lib/sluice/cassandra"]
    container = podman.start(
        one.reference, options=options, CASSANDRA_JAVA_OPTIONS=SMALL, **settings
    )
    container.wait_until_healthy()
    return container


def end(podman: Podman, container: Container) -> None:
    podman.call("stop", "--time=60", container.name)
    assert container.state()["ExitCode"] == 0
    podman.call("rm", container.name)


def has_socket(container: Container) -> bool:
    return container.call("test", "-S", SOCKET, check=False).returncode == 0


@pytest.mark.image
@pytest.mark.parametrize("variant", VARIANTS)
def test_labels_are_those_of_show(podman: Podman, made: dict[str, Made], variant: str):
    labels = podman.inspect_image(made[variant].reference)["Labels"]
    assert made[variant].facts["labels"].items() <= labels.items()


@pytest.mark.image
def test_variants_take_turns_on_the_same_data(podman: Podman, made: dict[str, Made]):
    volume = podman.volume()
    first = serve(podman, made["patched"], volume)
    wait_until("the plug-in takes orders", lambda: has_socket(first))
    assert first.output("stat", "-c", "%U %G", SOCKET) == "cassandra sluice"
    first.call(
        "cassandra",
        "cql",
        "CREATE KEYSPACE shop WITH replication"
        " = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE shop.orders (name text PRIMARY KEY, amount int)",
        "INSERT INTO shop.orders (name, amount) VALUES ('kept', 7)",
    )
    end(podman, first)
    second = serve(podman, made["stock"], volume)
    read = "SELECT name, amount FROM shop.orders"
    assert second.output("cassandra", "cql", read) == "kept\t7"
    assert not has_socket(second)
    end(podman, second)
    third = serve(podman, made["patched"], volume, CASSANDRA_PLUGIN="")
    assert third.output("cassandra", "cql", read) == "kept\t7"
    assert not has_socket(third)


@pytest.mark.image
def test_clients_reach_it_from_outside_and_it_is_not_root(podman: Podman, made: dict[str, Made]):
    container = serve(podman, made["patched"], podman.volume())
    address = container.output("hostname", "-i").split()[0]
    version = container.output(
        "cassandra", "cql", "--address", address, "SELECT release_version FROM system.local"
    )
    assert version == "5.0.9"
    assert container.output("pgrep", "--uid=cassandra", "--count", "java") == "1"
