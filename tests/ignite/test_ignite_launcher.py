"""What bin/ignite gives to Java. Java is a script here."""

import shutil
import subprocess
from pathlib import Path

import pytest
from ignite_node import ROOT

TREE = ROOT / "build" / "stores" / "ignite" / "distribution" / "tree"
JAVA = (
    '#!/bin/sh\nprintf "%s\\n" "$@"\nprintf "override=%s\\n" "${ROCKSDB_DB_OPTIONS_OVERRIDE:-}"\n'
)


class Launcher:
    """The launcher below a prefix of its own, with a configuration."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "prefix"
        shutil.copytree(TREE, self.prefix)
        self.configuration = folder / "orders"
        self.configuration.mkdir()
        (self.configuration / "ignite-config.conf").touch()
        java = folder / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(JAVA)
        java.chmod(0o755)
        self.environment = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(folder / "java")}

    def run(self, *arguments: str, status: int = 0, **variables: str) -> str:
        done = subprocess.run(
            [str(self.prefix / "bin" / "ignite"), *arguments],
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stderr if status else done.stdout

    def serve(self, **variables: str) -> list[str]:
        """Arguments that Java gets for a node."""
        return self.run("--config", str(self.configuration), "serve", **variables).splitlines()


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)


def value(given: list[str], option: str) -> str:
    return given[given.index(option) + 1]


def test_help_needs_neither_java_nor_configuration(launcher: Launcher) -> None:
    shown = launcher.run("--help", JAVA_HOME="/nonexistent")
    assert shown.startswith("Usage: ignite ")
    assert launcher.run(status=2) == shown


def test_a_missing_configuration_is_named(launcher: Launcher) -> None:
    said = launcher.run("--config=/nonexistent", "serve", status=2)
    assert "there is no /nonexistent/ignite-config.conf" in said
    assert "what to do: " in said


def test_a_wrong_java_home_is_named(launcher: Launcher) -> None:
    assert "/nonexistent/bin/java" in launcher.run("status", JAVA_HOME="/nonexistent", status=2)


def test_data_are_named_after_the_instance(launcher: Launcher) -> None:
    given = launcher.serve(IGNITE_NODE_NAME="n7")
    assert value(given, "--work-dir") == "/var/lib/sluice/ignite/orders"
    assert value(given, "--config-path") == str(launcher.configuration / "ignite-config.conf")
    assert value(given, "--node-name") == "n7"
    assert value(launcher.serve(IGNITE_DATA_DIR="/srv/a"), "--work-dir") == "/srv/a"


def test_options_come_before_the_main_class(launcher: Launcher) -> None:
    given = launcher.serve(IGNITE_JAVA_OPTIONS="-Xmx1g -Xms1g")
    main = given.index("org.apache.ignite.internal.app.IgniteRunner")
    assert given[main - 2 : main] == ["-Xmx1g", "-Xms1g"]


def test_own_settings_of_logs_win(launcher: Launcher) -> None:
    setting = "-Djava.util.logging.config.file="
    assert f"{setting}{launcher.prefix}/share/logging.properties" in launcher.serve()
    own = launcher.configuration / "logging.properties"
    own.touch()
    assert f"{setting}{own}" in launcher.serve()


def test_the_override_is_for_nodes_and_not_for_commands(launcher: Launcher) -> None:
    override = {"ROCKSDB_DB_OPTIONS_OVERRIDE": "max_background_jobs=4"}
    assert "override=max_background_jobs=4" in launcher.serve(**override)
    assert launcher.run("sql", "SELECT 1", **override).splitlines()[-1] == "override="


def test_the_version_is_that_of_the_jar(launcher: Launcher) -> None:
    (launcher.prefix / "lib").mkdir()
    (launcher.prefix / "lib" / "ignite-runner-3.1.0.jar").touch()
    assert launcher.run("version") == "3.1.0\n"
