"""What the launchers give to Java: class path, options, main class. Java is a script here."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

STORES = Path(__file__).parents[2] / "build" / "stores"
SITES = {"hbase": "hbase-site.xml", "hdfs": "hdfs-site.xml", "zookeeper": "zoo.cfg"}
JAVA = '#!/bin/sh\nprintf "%s\\n" "$@"\nexit "${JAVA_STATUS:-0}"\n'


@dataclass
class Installed:
    """One store's launcher below a prefix of its own, with a configuration."""

    store: str
    prefix: Path
    configuration: Path
    environment: dict[str, str]

    def run(self, *arguments: str, status: int = 0, **variables: str) -> str:
        done = subprocess.run(
            [str(self.prefix / "bin" / self.store), *arguments],
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr

    def java(self, *arguments: str, **variables: str) -> list[str]:
        """Arguments that Java gets."""
        return self.run("--config", str(self.configuration), *arguments, **variables).splitlines()

    def class_path(self, *arguments: str, **variables: str) -> list[str]:
        given = self.java(*arguments, **variables)
        return given[given.index("-cp") + 1].split(":")


@pytest.fixture(params=SITES)
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Installed:
    return install(request.param, tmp_path)


@pytest.fixture
def hbase(tmp_path: Path) -> Installed:
    return install("hbase", tmp_path)


@pytest.fixture
def hdfs(tmp_path: Path) -> Installed:
    return install("hdfs", tmp_path)


def install(store: str, folder: Path) -> Installed:
    prefix, configuration = folder / "prefix", folder / "conf"
    shutil.copytree(STORES / store / "distribution" / "tree", prefix)
    configuration.mkdir()
    (configuration / SITES[store]).write_text("clientPort = 12345\nclientPortAddress=::1\n")
    java = folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA)
    java.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "JAVA_HOME": str(folder / "java")}
    return Installed(store, prefix, configuration, environment)


def options_after(given: list[str], marker: str) -> list[str]:
    return given[given.index(marker) + 1 :]


def test_help_needs_neither_java_nor_configuration(any_store: Installed):
    shown = any_store.run("--help", JAVA_HOME="/nonexistent")
    assert shown.startswith(f"Usage: {any_store.store} ")
    assert any_store.run(status=2) == shown


def test_a_missing_configuration_is_named(any_store: Installed):
    daemon = {"hbase": "master", "hdfs": "datanode", "zookeeper": "serve"}[any_store.store]
    said = any_store.run("--config=/nonexistent", daemon, status=2)
    assert f"there is no /nonexistent/{SITES[any_store.store]}" in said
    assert "what to do: " in said


def test_a_wrong_java_home_is_named(any_store: Installed):
    said = any_store.run("version", JAVA_HOME="/nonexistent", status=2)
    assert "/nonexistent/bin/java" in said


def test_it_runs_from_a_link(any_store: Installed, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(any_store.prefix / "bin" / any_store.store)
    done = subprocess.run(
        [str(link), "classpath"],
        env=any_store.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{any_store.prefix}/lib/*" in done.stdout


def test_the_exit_status_is_that_of_the_program(any_store: Installed):
    any_store.run("version", JAVA_STATUS="7", status=7)


def test_an_option_without_value_is_refused(any_store: Installed):
    assert "--config has no value" in any_store.run("--config", status=2)


def test_order_of_the_class_path(hbase: Installed, tmp_path: Path):
    (hbase.prefix / "plugins").mkdir()
    hadoop = tmp_path / "hadoop"
    hadoop.mkdir()
    variables = {
        "HADOOP_CONF_DIR": str(hadoop),
        "CLASSPATH_FIRST": "first.jar",
        "CLASSPATH_LAST": "last.jar",
    }
    expected = [
        *(str(hbase.configuration), str(hadoop), "first.jar"),
        *(f"{hbase.prefix}/plugins/*", f"{hbase.prefix}/lib/*", f"{hbase.prefix}/share"),
        "last.jar",
    ]
    assert hbase.class_path("master", **variables) == expected
    assert hbase.class_path("regionserver", **variables) == expected
    without_plugin = [part for part in expected if "plugins" not in part]
    assert hbase.class_path("status", **variables) == without_plugin
    assert hbase.class_path("canary", **variables) == without_plugin


def test_a_folder_of_hadoop_that_is_not_there_is_left_out(hbase: Installed):
    path = hbase.class_path("master", HADOOP_CONF_DIR="/nonexistent")
    assert path[:2] == [str(hbase.configuration), f"{hbase.prefix}/lib/*"]


@pytest.mark.parametrize(
    ("daemon", "name"), [("master", "MASTER"), ("regionserver", "REGIONSERVER")]
)
def test_options_of_one_daemon_come_last(hbase: Installed, daemon: str, name: str):
    variables = {"HBASE_JAVA_OPTIONS": "-Xmx1g -Dall=1", f"HBASE_{name}_JAVA_OPTIONS": "-Xmx2g"}
    given = hbase.java(daemon, **variables)
    assert given.index("-Xmx1g") < given.index("-Dall=1") < given.index("-Xmx2g")
    assert given[-1] == "start"
    assert "-Dsluice.log.level=INFO" in given
    other = hbase.java("status", **variables)
    assert "-Xmx1g" in other
    assert "-Xmx2g" not in other


def test_arguments_of_a_daemon_replace_start(hbase: Installed):
    given = hbase.java("master", "--localRegionServers=2", "start")
    assert given[-3:] == [
        "org.apache.hadoop.hbase.master.HMaster",
        "--localRegionServers=2",
        "start",
    ]


def test_what_is_no_daemon_or_tool_is_a_command(hbase: Installed):
    given = hbase.java("-o", "json", "put", "t", "a row", "cf:q", "")
    main = "dev.sluice.hbase.commands.Main"
    assert options_after(given, main) == ["-o", "json", "put", "t", "a row", "cf:q", ""]
    assert f"-Dsluice.configuration={hbase.configuration}" in given
    assert "-Dsluice.log.level=WARN" in given


def test_the_level_of_logs_can_be_set(hbase: Installed):
    assert "-Dsluice.log.level=DEBUG" in hbase.java("status", HBASE_LOG_LEVEL="DEBUG")


def test_any_main_class_can_be_run(hbase: Installed):
    assert hbase.java("class", "org.example.Tool", "-x")[-2:] == ["org.example.Tool", "-x"]
    assert "class needs the name" in hbase.run("class", status=2)


def test_the_shell_of_upstream_is_run_where_it_is(hbase: Installed, tmp_path: Path):
    missing = hbase.run("--config", str(hbase.configuration), "shell", status=2)
    assert "there is no hbase-shell" in missing
    jars = tmp_path / "shell"
    jars.mkdir()
    (jars / "hbase-shell-2.6.4-hadoop3.jar").write_text("")
    given = hbase.java("shell", "-n", HBASE_SHELL_JARS=str(jars))
    assert given[-2:] == ["org.jruby.JarBootstrapMain", "-n"]
    assert given[given.index("-cp") + 1].endswith(f":{jars}/*")


def test_every_command_of_the_help_is_there(hdfs: Installed):
    listed = {
        *("namenode", "datanode", "journalnode", "zkfc", "secondarynamenode", "sps", "dfs"),
        *("dfsadmin", "fsck", "haadmin", "storagepolicies", "balancer", "mover", "diskbalancer"),
        *("cacheadmin", "crypto", "ec", "groups", "snapshotDiff", "lsSnapshottableDir"),
        *("lsSnapshot", "debug", "fetchdt", "getconf", "jmxget", "key", "daemonlog", "oev", "oiv"),
    }
    shown = hdfs.run("--help").split()
    for command in sorted(listed):
        assert command in shown
        assert hdfs.java(command, "-x")[-1] == "-x"


def test_an_unknown_command_of_hdfs_is_refused(hdfs: Installed):
    assert "there is no command 'nothing'" in hdfs.run("nothing", status=2)


def test_options_of_one_daemon_of_hdfs(hdfs: Installed):
    given = hdfs.java("namenode", "-format", HDFS_NAMENODE_JAVA_OPTIONS="-Xmx3g")
    assert given[-3:] == ["-Xmx3g", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format"]


@pytest.fixture
def zookeeper(tmp_path: Path) -> Installed:
    return install("zookeeper", tmp_path)


def test_the_port_is_that_of_the_configuration(zookeeper: Installed):
    given = zookeeper.java("status", ZOOKEEPER_CLIENT_JAVA_OPTIONS="-DMode:=x")
    assert given[-3:] == ["localhost", "12345", "srvr"]
    served = zookeeper.java("serve", ZOOKEEPER_JAVA_OPTIONS="-Xmx9m")
    assert served[-1] == f"{zookeeper.configuration}/zoo.cfg"
    assert "-Xmx9m" in served


def test_status_is_a_failure_where_nobody_says_that_it_serves(zookeeper: Installed):
    zookeeper.run("--config", str(zookeeper.configuration), "status", status=1)
    given = zookeeper.java("status", "host", "99", ZOOKEEPER_CLIENT_JAVA_OPTIONS="-DMode:=x")
    assert given[-3:] == ["host", "99", "srvr"]
