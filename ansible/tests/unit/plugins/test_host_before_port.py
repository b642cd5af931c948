"""Addresses before a port, and that no role writes them in a way of its own."""

import re

import pytest
from conftest import TOP
from host_before_port import FilterModule, host_before_port

BRACKETED = re.compile(r"\[%s\]' \| format|'\[' ~")


@pytest.mark.parametrize(
    ("host", "written"),
    [("fd00::1", "[fd00::1]"), ("10.0.0.1", "10.0.0.1"), ("n1.example", "n1.example")],
)
def test_only_addresses_of_version_6_have_brackets(host, written):
    assert host_before_port(host) == written
    assert FilterModule().filters()["host_before_port"](host) == written


def test_no_role_has_an_expression_of_its_own():
    roles = TOP / "ansible" / "roles"
    files = [*roles.rglob("*.yml"), *roles.rglob("*.j2")]
    assert files
    assert [path for path in files if BRACKETED.search(path.read_text())] == []
