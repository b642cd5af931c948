"""What bin/cassandra gives to Java. Java is a script here."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cassandra_node import ROOT

TREE = ROOT / "build" / "stores" / "cassandra" / "distribution" / "tree"
JAVA = '#!/bin/sh\nprintf "%s\\n" "$@"\n'


class Launcher:
    """The launcher below a prefix of its own, with a configuration."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "prefix"
        shutil.copytree(TREE, self.prefix)
        (self.prefix / "lib").mkdir()
        (self.prefix / "lib" / "jamm-0.4.0.jar").touch()
        self.configuration = folder / "orders"
        self.configuration.mkdir()
        (self.configuration / "cassandra.yaml").touch()
        java = folder / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(JAVA)
        java.chmod(0o755)
        self.environment = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(folder / "java")}

    def run(self, *arguments: str, status: int = 0, program: str = "cassandra", **more: str) -> str:
        done = subprocess.run(
            [str(self.prefix / "bin" / program), *arguments],
            env=self.environment | more,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stderr if status else done.stdout

    def command(self, *arguments: str, status: int = 0, **more: str) -> list[str]:
        """What Java gets for a command of the configuration, or what is said instead."""
        folder = str(self.configuration)
        return self.run("--config", folder, *arguments, status=status, **more).splitlines()


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)


def test_help_needs_neither_java_nor_configuration(launcher: Launcher) -> None:
    shown = launcher.run("--help", JAVA_HOME="/nonexistent")
    assert shown.startswith("Usage: cassandra ")
    assert launcher.run(status=2) == shown


@pytest.mark.parametrize("command", ["serve", "sstabledump", "generatetokens"])
def test_a_missing_configuration_is_named(launcher: Launcher, command: str) -> None:
    said = launcher.run("--config=/nonexistent", command, status=2)
    assert "there is no /nonexistent/cassandra.yaml" in said
    assert "what to do: " in said


def test_commands_that_ask_a_node_need_no_configuration(launcher: Launcher) -> None:
    given = launcher.run("--config=/nonexistent", "nodetool", "status").splitlines()
    assert given[-4:] == ["org.apache.cassandra.tools.NodeTool", "-p", "7199", "status"]
    given = launcher.run("status", program="nodetool", CASSANDRA_JMX_PORT="7200").splitlines()
    assert given[-3:] == ["-p", "7200", "status"]


def test_a_wrong_java_home_is_named(launcher: Launcher) -> None:
    said = launcher.run("cql", JAVA_HOME="/nonexistent", status=2)
    assert "/nonexistent/bin/java" in said


def test_data_and_instance_are_named_after_the_configuration(launcher: Launcher) -> None:
    given = launcher.command("serve")
    assert "-Dcassandra.storagedir=/var/lib/sluice/cassandra/orders" in given
    assert "-Dsluice.cassandra.instance=orders" in given
    assert f"-Dcassandra.config=file://{launcher.configuration}/cassandra.yaml" in given
    given = launcher.command("serve", CASSANDRA_DATA_DIR="/srv/a")
    assert "-Dcassandra.storagedir=/srv/a" in given


def test_options_come_before_the_main_class(launcher: Launcher) -> None:
    given = launcher.command("serve", CASSANDRA_JAVA_OPTIONS="-Xmx1g -Xms1g")
    assert given[-3:] == ["-Xmx1g", "-Xms1g", "org.apache.cassandra.service.CassandraDaemon"]


def agents(given: list[str]) -> list[str]:
    """Names of the jars that Java loads as agents."""
    return [Path(each).name for each in given if each.startswith("-javaagent:")]


def test_the_plugin_is_loaded_where_it_is_asked_for(launcher: Launcher) -> None:
    assert agents(launcher.command("serve")) == ["jamm-0.4.0.jar"]
    said = "\n".join(launcher.command("serve", CASSANDRA_PLUGIN="sluice", status=2))
    assert "install the package of the plug-in" in said
    (launcher.prefix / "plugins").mkdir()
    (launcher.prefix / "plugins" / "sluice-cassandra-0.1.0.jar").touch()
    assert agents(launcher.command("serve")) == ["jamm-0.4.0.jar"]
    given = launcher.command("serve", CASSANDRA_PLUGIN="sluice")
    assert agents(given) == ["jamm-0.4.0.jar", "sluice-cassandra-0.1.0.jar"]
    assert "there is no plug-in 'x'" in launcher.command("serve", CASSANDRA_PLUGIN="x", status=2)[0]


def test_own_settings_of_logs_win(launcher: Launcher) -> None:
    setting = "-Dlogback.configurationFile="
    assert f"{setting}{launcher.prefix}/share/logback.xml" in launcher.command("serve")
    own = launcher.configuration / "logback.xml"
    own.touch()
    assert f"{setting}{own}" in launcher.command("serve")


def test_an_unknown_command_is_named(launcher: Launcher) -> None:
    assert "there is no command 'drop'" in launcher.run("drop", status=2)


def test_the_version_is_that_of_the_jar(launcher: Launcher) -> None:
    (launcher.prefix / "lib" / "cassandra-all-5.0.9.jar").touch()
    assert launcher.run("version") == "5.0.9\n"
