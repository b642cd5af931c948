"""Configuration files of a ZooKeeper, an HDFS and an HBase, all on the loopback interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from daemons import LOOPBACK

MAXIMUM_REPLICATION = 3
# Longer than any pause of a busy machine, much shorter than HBase's default of 90 s.
SESSION_TIMEOUT_MILLISECONDS = 20_000

HEAPS = {
    "zookeeper": "128m",
    "namenode": "256m",
    "datanode": "256m",
    "master": "512m",
    "regionserver": "1g",
}

PLUGIN_SITE = {
    "hbase.regionserver.throughput.controller": (
        "dev.sluice.hbase.compaction.LeasedCompactionController"
    ),
    "hbase.regionserver.flush.throughput.controller": (
        "dev.sluice.hbase.flush.LeasedFlushController"
    ),
    "hbase.hstore.defaultengine.compactor.class": "dev.sluice.hbase.compaction.CountingCompactor",
    "hbase.coprocessor.regionserver.classes": "dev.sluice.hbase.regionserver.SocketCoprocessor",
    "hbase.region.server.rpc.scheduler.factory.class": (
        "dev.sluice.hbase.latency.TimingSchedulerFactory"
    ),
}
# Needs the patch.
PATCHED_PLUGIN_SITE = {"hfile.block.cache.policy": "dev.sluice.hbase.cache.FamilyBlockCache"}


@dataclass(frozen=True)
class Layout:
    """Which daemons there are, of which build, and what differs from the usual configuration."""

    variant: str = "patched"
    plugin: bool = True
    region_servers: int = 1
    datanodes: int = 1
    # Whether each DataNode has a second volume, which is declared an SSD.
    tiers: bool = False
    version: str = ""
    site: Mapping[str, str] = field(default_factory=dict)
    hdfs_site: Mapping[str, str] = field(default_factory=dict)
    heaps: Mapping[str, str] = field(default_factory=dict)
    # Further options of Java, by kind of daemon.
    java_options: Mapping[str, str] = field(default_factory=dict)

    def datanode_names(self) -> list[str]:
        """Names of the DataNodes."""
        return numbered("datanode", self.datanodes)

    def region_server_names(self) -> list[str]:
        """Names of the region servers."""
        return numbered("regionserver", self.region_servers)

    def java_options_of(self, kind: str) -> str:
        """Options of Java for the daemons of a kind."""
        heap = self.heaps.get(kind, HEAPS[kind])
        collector = "G1" if kind == "regionserver" else "Serial"
        further = self.java_options.get(kind, "")
        return f"-Xms{heap} -Xmx{heap} -XX:+Use{collector}GC {further}".rstrip()


def numbered(kind: str, count: int) -> list[str]:
    """Names of the daemons of a kind: datanode, datanode2, datanode3."""
    return [kind, *(f"{kind}{number}" for number in range(2, count + 1))][:count]


def port_names(layout: Layout) -> list[str]:
    """What needs a port: a daemon's name, or that and a dash and a second use."""
    hbase = ["master", *layout.region_server_names()]
    names = ["zookeeper", "namenode", "namenode-web"]
    for name in layout.datanode_names():
        names += [name, f"{name}-web", f"{name}-ipc"]
    return [*names, *hbase, *(f"{name}-web" for name in hbase)]


def site_xml(properties: Mapping[str, object]) -> str:
    """A file of Hadoop's or HBase's configuration."""
    lines = ['<?xml version="1.0"?>', "<configuration>"]
    for name, value in properties.items():
        lines += [
            "  <property>",
            f"    <name>{escape(name)}</name>",
            f"    <value>{escape(str(value))}</value>",
            "  </property>",
        ]
    return "\n".join([*lines, "</configuration>", ""])


def zookeeper_configuration(folder: Path, ports: Mapping[str, int]) -> str:
    """The file zoo.cfg."""
    lines = {
        "tickTime": 2000,
        "dataDir": folder / "data/zookeeper",
        "clientPort": ports["zookeeper"],
        "clientPortAddress": LOOPBACK,
        "maxClientCnxns": 0,
        "4lw.commands.whitelist": "srvr",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def core_site(folder: Path, ports: Mapping[str, int]) -> dict[str, object]:
    """The file core-site.xml."""
    return {
        "fs.defaultFS": f"hdfs://{LOOPBACK}:{ports['namenode']}",
        "hadoop.tmp.dir": folder / "tmp/hdfs",
    }


def hdfs_site(
    layout: Layout, folder: Path, ports: Mapping[str, int], datanode: str = "datanode"
) -> dict[str, object]:
    """The file hdfs-site.xml, for one of the DataNodes; the others' parts are alike."""
    return {
        "dfs.namenode.name.dir": f"file://{folder}/data/namenode",
        "dfs.namenode.rpc-address": f"{LOOPBACK}:{ports['namenode']}",
        "dfs.namenode.http-address": f"{LOOPBACK}:{ports['namenode-web']}",
        # A block is there as soon as its DataNode is.
        "dfs.namenode.safemode.extension": 0,
        # The loopback address need not have a name.
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.datanode.data.dir": f"file://{folder}/data/{datanode}",
        "dfs.datanode.address": f"{LOOPBACK}:{ports[datanode]}",
        "dfs.datanode.http.address": f"{LOOPBACK}:{ports[f'{datanode}-web']}",
        "dfs.datanode.ipc.address": f"{LOOPBACK}:{ports[f'{datanode}-ipc']}",
        "dfs.replication": min(layout.datanodes, MAXIMUM_REPLICATION),
        **(_tiers_site(layout, folder, datanode) if layout.tiers else {}),
        **layout.hdfs_site,
    }


def _tiers_site(layout: Layout, folder: Path, datanode: str) -> dict[str, object]:
    volumes = f"[SSD]file://{folder}/data/{datanode}-ssd,[DISK]file://{folder}/data/{datanode}"
    if not layout.plugin:
        return {"dfs.datanode.data.dir": volumes}
    return {
        "dfs.datanode.data.dir": volumes,
        "dfs.datanode.plugins": "dev.sluice.hdfs.DataNodePlugin",
        "dfs.datanode.fsdataset.volume.choosing.policy": (
            "dev.sluice.hdfs.RedirectingVolumeChoosingPolicy"
        ),
        "sluice.datanode.instance": datanode,
        "sluice.socket.directory": folder / "run",
    }


def hbase_site(
    layout: Layout, folder: Path, ports: Mapping[str, int], daemon: str = ""
) -> dict[str, object]:
    """The file hbase-site.xml, for one of HBase's daemons or for its clients."""
    site: dict[str, object] = {
        "hbase.cluster.distributed": "true",
        "hbase.rootdir": f"hdfs://{LOOPBACK}:{ports['namenode']}/hbase",
        "hbase.tmp.dir": folder / "tmp/hbase",
        "hbase.zookeeper.quorum": LOOPBACK,
        "hbase.zookeeper.property.clientPort": ports["zookeeper"],
        "zookeeper.session.timeout": SESSION_TIMEOUT_MILLISECONDS,
        "hbase.master.hostname": "localhost",
        "hbase.unsafe.regionserver.hostname": "localhost",
        "hbase.master.ipc.address": LOOPBACK,
        "hbase.regionserver.ipc.address": LOOPBACK,
        "hbase.master.port": ports["master"],
        "hbase.master.info.port": ports["master-web"],
        "hbase.master.info.bindAddress": LOOPBACK,
        "hbase.regionserver.info.bindAddress": LOOPBACK,
        # What is measured starts its compactions itself.
        "hbase.hregion.majorcompaction": 0,
    }
    if daemon.startswith("regionserver"):
        site["hbase.regionserver.port"] = ports[daemon]
        site["hbase.regionserver.info.port"] = ports[f"{daemon}-web"]
        site.update(_plugin_site(layout, folder, daemon))
    return {**site, **layout.site}


def _plugin_site(layout: Layout, folder: Path, instance: str) -> dict[str, object]:
    if not layout.plugin:
        return {}
    patched = PATCHED_PLUGIN_SITE if layout.variant == "patched" else {}
    place = {"sluice.instance": instance, "sluice.socket.directory": folder / "run"}
    return {**PLUGIN_SITE, **patched, **place}
