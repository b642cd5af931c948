"""Packages and images of HBase, HDFS and ZooKeeper, run in containers of their own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from images import Container, Podman, sluice_dist, wait_until

pytestmark = pytest.mark.image

STORES = ("zookeeper", "hdfs", "hbase")
VARIANTS = ("patched", "stock")
SMALL = "-Xmx384m -XX:+UseSerialGC"
HEAPS = {
    "zookeeper": "ZOOKEEPER_JAVA_OPTIONS",
    "hdfs": "HDFS_JAVA_OPTIONS",
    "hbase": "HBASE_JAVA_OPTIONS",
}
EXAMPLES = {"zookeeper": "single", "hdfs": "pseudo", "hbase": "distributed"}
DAEMONS = {
    "zookeeper": ("",),
    "hdfs": ("-namenode", "-datanode"),
    "hbase": ("-master", "-regionserver"),
}


@dataclass
class Made:
    """One release: what `show` says, and its image."""

    store: str
    facts: dict
    reference: str

    @property
    def package(self) -> str:
        return f"sluice-{self.store}-{self.facts['label']}"

    @property
    def program(self) -> str:
        return f"{self.facts['prefix']}/bin/{self.store}"

    def units(self) -> list[str]:
        return [f"{self.package}{daemon}@main" for daemon in DAEMONS[self.store]]


@pytest.fixture(scope="module")
def made(environment: dict[str, str]) -> dict[tuple[str, str], Made]:
    """Packages and image of each store and variant, up to date."""
    found = {}
    for store in STORES:
        for variant in VARIANTS:
            release = [store, "--variant", variant, "-o", "json"]
            sluice_dist("package", *release, environment=environment)
            image = json.loads(sluice_dist("image", *release, environment=environment))
            facts = json.loads(sluice_dist("show", *release, environment=environment))
            found[store, variant] = Made(store, facts, image["reference"])
    return found


@pytest.fixture(scope="module")
def cluster(node: Container, made: dict[tuple[str, str], Made]) -> Iterator[Container]:
    """A node with all packages, both variants, and the configuration of the examples."""
    files = " ".join(f"/packages/{one.package}_*.deb" for one in made.values())
    node.shell(
        "export DEBIAN_FRONTEND=noninteractive;"
        f"apt-get install --quiet --yes --no-install-recommends {files}"
    )
    for store in STORES:
        folder = f"/etc/sluice/{store}/main"
        example = f"{made[store, 'patched'].facts['prefix']}/share/examples/{EXAMPLES[store]}"
        node.shell(
            f"mkdir {folder} && cp {example}/* {folder}/;"
            f"install -d -o {store} -g {store} /var/lib/sluice/{store}/main;"
            f"echo '{HEAPS[store]}=\"{SMALL}\"' > {folder}/environment"
        )
    as_hdfs = "setpriv --reuid=hdfs --regid=hdfs --init-groups"
    node.shell(f"{as_hdfs} {made['hdfs', 'patched'].program} namenode -format -nonInteractive")
    as_hdfs_do = f"{as_hdfs} {made['hdfs', 'patched'].program} dfs"
    start(node, [*made["zookeeper", "patched"].units(), *made["hdfs", "patched"].units()])
    wait_until("HDFS is there", lambda: works(node, f"{as_hdfs_do} -mkdir -p /hbase"))
    node.shell(f"{as_hdfs_do} -chown hbase:hbase /hbase")
    yield node
    node.shell("systemctl stop 'sluice-h*.service' 'sluice-zookeeper-*.service'")


def start(node: Container, units: list[str]) -> None:
    node.call("systemctl", "start", *units)


def works(node: Container, script: str) -> bool:
    return node.call("sh", "-c", script, check=False).returncode == 0


def start_hbase(node: Container, hbase: Made) -> None:
    start(node, hbase.units())
    create = f"{hbase.program} tables | grep -qx t || {hbase.program} create t --family cf"
    wait_until("HBase has its table", lambda: works(node, create))
    wait_until("it is served", lambda: works(node, f"{hbase.program} count t"))


def test_variants_take_turns_on_the_same_data(cluster: Container, made):
    """The way of an upgrade and back: what one variant wrote the other one reads."""
    for number, variant in enumerate(("stock", "patched", "stock")):
        hbase = made["hbase", variant]
        start_hbase(cluster, hbase)
        cluster.shell(f"{hbase.program} put t row{number} cf:q {variant}")
        assert cluster.output(hbase.program, "count", "t") == str(number + 1)
        cluster.call("systemctl", "stop", *hbase.units())
        for unit in hbase.units():
            result = cluster.output("systemctl", "show", "--property=Result", "--value", unit)
            assert result == "success"


def test_daemons_are_not_root(cluster: Container, made):
    for store in ("zookeeper", "hdfs"):
        for unit in made[store, "patched"].units():
            pid = cluster.output("systemctl", "show", "--property=MainPID", "--value", unit)
            assert cluster.output("ps", "-o", "user=", "-p", pid) == store


def test_sockets_belong_to_the_agents_group(cluster: Container):
    assert cluster.output("stat", "-c", "%U %G %a", "/run/sluice/hbase") == "hbase sluice 2750"
    assert "sluice" in cluster.output("id", "-nG", "hbase").split()


def test_a_daemon_without_configuration_fails_and_says_so(cluster: Container, made):
    for one in made.values():
        started = cluster.call(
            "systemctl", "start", one.units()[0].replace("@main", "@absent"), check=False
        )
        assert started.returncode != 0
        assert "Assertion failed" in started.stderr


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("store", STORES)
def test_labels_are_those_of_show(podman: Podman, made, store: str, variant: str):
    one = made[store, variant]
    labels = podman.inspect_image(one.reference)["Labels"]
    assert one.facts["labels"].items() <= labels.items()


def test_the_bill_of_materials_lists_the_jars(podman: Podman, made):
    one = made["hbase", "patched"]
    path = f"/usr/share/sluice/sbom/hbase-{one.facts['label']}.spdx.json"
    text = podman.call("run", "--rm", one.reference, "cat", path).stdout
    names = {package["name"] for package in json.loads(text)["packages"]}
    assert {"org.apache.hbase:hbase-client", "openjdk-17-jre-headless"} <= names


def test_hbase_alone_keeps_its_data(podman: Podman, made):
    volume = f"--volume={podman.volume()}:/var/lib/sluice/hbase"
    reference = made["hbase", "patched"].reference
    first = podman.start(reference, options=[volume], HBASE_MASTER_JAVA_OPTIONS="-Xmx700m")
    first.wait_until_healthy()
    first.call("hbase", "create", "t", "--family", "cf")
    first.call("hbase", "put", "t", "row", "cf:q", "kept")
    podman.call("stop", "--time=60", first.name)
    assert first.state()["ExitCode"] == 0
    podman.call("rm", first.name)
    second = podman.start(reference, options=[volume], HBASE_MASTER_JAVA_OPTIONS="-Xmx700m")
    second.wait_until_healthy()
    assert second.output("hbase", "get", "t", "row") == "row\tcf:q\tkept"


def test_hdfs_formats_once(podman: Podman, made):
    volume = f"--volume={podman.volume()}:/var/lib/sluice/hdfs"
    reference = made["hdfs", "patched"].reference
    first = podman.start(reference, "pseudo", options=[volume], HDFS_JAVA_OPTIONS=SMALL)
    first.wait_until_healthy()
    first.shell("setpriv --reuid=hdfs --regid=hdfs --init-groups hdfs dfs -mkdir /kept")
    podman.call("stop", "--time=60", first.name)
    assert first.state()["ExitCode"] == 0
    podman.call("rm", first.name)
    second = podman.start(reference, "pseudo", options=[volume], HDFS_JAVA_OPTIONS=SMALL)
    second.wait_until_healthy()
    assert "/kept" in second.output("hdfs", "dfs", "-ls", "/")


def test_zookeeper_serves(podman: Podman, made):
    container = podman.start(
        made["zookeeper", "patched"].reference, options=[], ZOOKEEPER_SERVER_ID="7"
    )
    container.wait_until_healthy()
    assert container.output("cat", "/var/lib/sluice/zookeeper/main/myid") == "7"
    assert "Mode: standalone" in container.output("zookeeper", "status")
