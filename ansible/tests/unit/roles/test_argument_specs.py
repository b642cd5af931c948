"""Argument specifications: every role and entry point has one, and they agree with the defaults."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

COLLECTION = Path(__file__).parents[3]
ROLES = sorted(path.name for path in (COLLECTION / "roles").iterdir())
ENTRY_POINT = re.compile(r"name: sluice\.stores\.(\w+)\n\s+tasks_from: (\w+)")


@cache
def specifications(role: str) -> dict:
    file = COLLECTION / "roles" / role / "meta" / "argument_specs.yml"
    return yaml.safe_load(file.read_text())["argument_specs"]


def options(role: str) -> list[tuple[str, dict]]:
    entries = specifications(role).values()
    return [option for entry in entries for option in entry.get("options", {}).items()]


def entry_points() -> set[tuple[str, str]]:
    folders = [COLLECTION / name for name in ("roles", "playbooks", "extensions")]
    texts = [file.read_text() for folder in folders for file in folder.rglob("*.yml")]
    return {found for text in texts for found in ENTRY_POINT.findall(text)}


@pytest.mark.parametrize("role", ROLES)
def test_every_default_is_described(role):
    defaults = yaml.safe_load((COLLECTION / "roles" / role / "defaults" / "main.yml").read_text())
    assert set(defaults) - {name for name, _ in options(role)} == set()


@pytest.mark.parametrize("role", ROLES)
def test_described_defaults_are_the_defaults(role):
    defaults = yaml.safe_load((COLLECTION / "roles" / role / "defaults" / "main.yml").read_text())
    described = {name: option["default"] for name, option in options(role) if "default" in option}
    assert described == {name: defaults.get(name) for name in described}


@pytest.mark.parametrize("role", ROLES)
def test_defaults_are_accepted(role):
    """What is required within a dictionary is required of an empty default, too."""
    described = {
        name: {key: value for key, value in option.items() if key != "required"}
        for name, option in specifications(role).get("main", {}).get("options", {}).items()
    }
    result = ArgumentSpecValidator(described).validate({})
    assert result.error_messages == []


def test_every_entry_point_is_described():
    found = entry_points()
    assert ("testbed", "teardown") in found
    assert (
        sorted(f"{role} {entry}" for role, entry in found if entry not in specifications(role))
        == []
    )
