"""The configuration of ZooKeeper, HDFS and HBase for a run of an experiment: one node, one copy."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

INSTANCE = "evaluation"
# Of a DataNode, with the types of their storage: [SSD]file:///a,[DISK]file:///b
VOLUMES = "dfs.datanode.data.dir"
# What the load is told, and no daemon is.
OF_THE_LOAD = "ycsb."
ROOT = Path("/etc/sluice")
# What sluice-evaluation reads; to the journal, which takes what comes on standard error.
LOG_FORMAT = """status = warn
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{UNIX_MILLIS} %p [%t] %c{1}: %m%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
"""


def folder(store: str) -> Path:
    """Where a store's units of the instance read their configuration."""
    return ROOT / store / INSTANCE


def write(host: str, directory: Path, settings: dict, java_options: dict) -> None:
    """Write all files: data in `directory`, `settings` of HBase, options of Java by daemon."""
    for (store, name), content in files(host, directory, settings, java_options).items():
        folder(store).mkdir(parents=True, exist_ok=True)
        (folder(store) / name).write_text(content)


def files(host: str, directory: Path, settings: dict, java_options: dict) -> dict:
    """Content by store and name of the file."""

    def environment(**variables: str) -> str:
        return "".join(f'{name}="{java_options[of]}"\n' for name, of in variables.items())

    return {
        ("zookeeper", "zoo.cfg"): zookeeper_settings(host, directory),
        ("zookeeper", "environment"): environment(ZOOKEEPER_JAVA_OPTIONS="zookeeper"),
        ("hdfs", "core-site.xml"): site({"fs.defaultFS": f"hdfs://{host}:8020"}),
        ("hdfs", "hdfs-site.xml"): site(hdfs_settings(host, directory, settings)),
        ("hdfs", "environment"): environment(
            HDFS_NAMENODE_JAVA_OPTIONS="namenode", HDFS_DATANODE_JAVA_OPTIONS="datanode"
        ),
        ("hbase", "hbase-site.xml"): site(hbase_settings(host, settings)),
        ("hbase", "log4j2.properties"): LOG_FORMAT,
        ("hbase", "environment"): environment(
            HBASE_MASTER_JAVA_OPTIONS="master", HBASE_REGIONSERVER_JAVA_OPTIONS="regionserver"
        ),
    }


def site(settings: dict) -> str:
    """Settings as Hadoop and HBase read them."""
    rows = [
        f"<property><name>{escape(name)}</name><value>{escape(written(value))}</value></property>"
        for name, value in settings.items()
    ]
    return "\n".join(["<configuration>", *rows, "</configuration>", ""])


def written(value: object) -> str:
    """A value as these programs write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def hbase_settings(host: str, wanted: dict) -> dict:
    """What the run asks for, and what nothing of it may change."""
    own_address = {
        f"hbase.{daemon}.{name}": host
        for daemon in ("master", "regionserver")
        for name in ("ipc.address", "info.bindAddress")
    }
    own = {name: value for name, value in wanted.items() if not name.startswith(OF_THE_LOAD)}
    return {
        "hbase.tmp.dir": "/var/lib/sluice/hbase/tmp",
        **own,
        "hbase.cluster.distributed": True,
        # The master waits for more of them otherwise, for seconds.
        "hbase.master.wait.on.regionservers.maxtostart": 1,
        "hbase.rootdir": f"hdfs://{host}:8020/hbase",
        "hbase.zookeeper.quorum": host,
        "hbase.zookeeper.property.clientPort": 2181,
        "hbase.master.hostname": host,
        "hbase.unsafe.regionserver.hostname": host,
        **own_address,
    }


def volumes(settings: dict) -> list[Path]:
    """The folders that a run's DataNode has by its settings; none if that is left to the runner."""
    named = [entry.partition("file://")[2] for entry in str(settings.get(VOLUMES, "")).split(",")]
    return [Path(path) for path in named if path]


def hdfs_settings(host: str, directory: Path, wanted: dict) -> dict:
    """One copy of each block; HBase is the only user."""
    return {
        "dfs.replication": 1,
        "dfs.permissions.enabled": False,
        "dfs.namenode.safemode.extension": 0,
        "dfs.namenode.name.dir": f"file://{directory / 'name'}",
        "dfs.namenode.rpc-address": f"{host}:8020",
        "dfs.namenode.http-address": f"{host}:9870",
        VOLUMES: wanted.get(VOLUMES, f"file://{directory / 'data'}"),
        "dfs.datanode.hostname": host,
        "dfs.datanode.address": f"{host}:9866",
        "dfs.datanode.http.address": f"{host}:9864",
        "dfs.datanode.ipc.address": f"{host}:9867",
    }


def zookeeper_settings(host: str, directory: Path) -> str:
    """A single server."""
    wanted = {
        "tickTime": 2000,
        "dataDir": directory / "zookeeper",
        "clientPort": 2181,
        "clientPortAddress": host,
        "maxClientCnxns": 0,
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "ruok",
    }
    return "".join(f"{name}={value}\n" for name, value in wanted.items())
