"""Formatters and linters over every file of their language."""

import json
import os
import shutil
import subprocess

import pytest
from source_files import TOP, has_suffix, interpreted_by


def run(command: list[str], directory=TOP, **environment: str) -> None:
    """Fails with the tool's own output when it finds anything."""
    assert shutil.which(command[0]), f"{command[0]} is missing: run build/bootstrap"
    done = subprocess.run(
        command, cwd=directory, env=os.environ | environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        shown = " ".join(command)[:200]
        pytest.fail(f"{shown}\n{done.stdout}{done.stderr}", pytrace=False)


def test_python_lint():
    run(["ruff", "check", "."])


def test_python_format():
    run(["ruff", "format", "--check", "--diff", "."])


def test_shell():
    scripts = interpreted_by("bash|sh|dash")
    assert scripts
    run(["shellcheck", "--severity", "style", "--external-sources", *map(str, scripts)])


def test_yaml():
    # What programs write, and what they must take or refuse, is in testdata.
    files = [file for file in has_suffix(".yml", ".yaml") if "testdata" not in file.parts]
    assert files
    # The rules that ansible-lint needs are the rules for all YAML of the project.
    run(["yamllint", "--strict", "-c", "ansible/.yamllint", *map(str, files)])


def test_ansible(tmp_path):
    # A home of its own: a copy of the collection that is installed for the user would be looked at
    # instead of this checkout.
    command = ["ansible-lint", "--profile", "production", "--strict", "--nocolor"]
    run(command, TOP / "ansible", ANSIBLE_HOME=str(tmp_path))


@pytest.mark.parametrize("playbook", ["site", "upgrade"])
def test_example_inventory(playbook):
    """The inventory that people copy has all that the playbooks need to begin with."""
    command = ["ansible-playbook", "-i", "inventories/example", "--syntax-check"]
    run([*command, f"playbooks/{playbook}.yml"], TOP / "ansible")


def test_secrets_beside_an_inventory_are_no_hosts(tmp_path):
    inventory = tmp_path / "mine"
    shutil.copytree(TOP / "ansible" / "inventories" / "example", inventory)
    (inventory / "secrets").mkdir()
    (inventory / "secrets" / "ycsb").write_text("password\n")
    command = ["ansible-inventory", "-i", str(inventory), "--list"]
    listed = subprocess.run(
        command, cwd=TOP / "ansible", capture_output=True, text=True, check=True
    )
    assert "password" not in json.loads(listed.stdout)["_meta"]["hostvars"]
    assert "ungrouped" not in json.loads(listed.stdout)


@pytest.mark.parametrize(
    "formatter",
    sorted((TOP / "build" / "stores").glob("*/format")),
    ids=lambda path: path.parent.name,
)
def test_store_format(formatter):
    """Each store may bring its upstream's own formatter."""
    assert os.access(formatter, os.X_OK), f"chmod +x {formatter}"
    run([str(formatter), "--check"])


def test_go_format():
    sources = [file for file in has_suffix(".go") if "gen" not in file.parts]
    assert sources
    done = subprocess.run(
        ["gofmt", "-l", *map(str, sources)], cwd=TOP, text=True, check=True, capture_output=True
    )
    assert not done.stdout, f"gofmt -w these:\n{done.stdout}"


@pytest.mark.parametrize("command", [["lint"], ["format", "--diff", "--exit-code"]])
def test_protobuf(command):
    run(["buf", *command], TOP / "proto")


JAVA_PROJECTS = [
    "ycsb-bindings/pom.xml",
    *(f"build/stores/*/{folder}/pom.xml" for folder in ("distribution", "modules")),
    "plugins/pom.xml",
    "build/tap-runner/pom.xml",
    "tests/*/faults/*/pom.xml",
]


@pytest.mark.parametrize(
    "project",
    sorted(path.parent for pattern in JAVA_PROJECTS for path in TOP.glob(pattern)),
    ids=lambda path: str(path.relative_to(TOP)),
)
def test_java_format(project):
    run(["mvn", "--batch-mode", "--quiet", "spotless:check"], project)
