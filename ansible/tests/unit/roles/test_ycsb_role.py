"""The file of properties that role ycsb writes for a store."""

from ansible.template import Templar, trust_as_template
from role_files import LOADER, ROLES

TEMPLATE = ROLES / "ycsb" / "templates" / "store.properties.j2"


def written(properties: dict) -> list[str]:
    """Its lines without comments."""
    variables = {
        "ansible_managed": "managed",
        "_ycsb_config_dir": "/etc/sluice/ycsb",
        "item": {"name": "postgres", "properties": properties},
    }
    template = trust_as_template(TEMPLATE.read_text())
    # As the module template does.
    text = Templar(LOADER, variables=variables).template(template, escape_backslashes=False)
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_booleans_are_written_as_the_bindings_read_them():
    properties = {"postgres.upsert": True, "rocksdb.sync": False, "text": "True", "count": 1}
    assert written(properties) == [
        "count=1",
        "postgres.upsert=true",
        "rocksdb.sync=false",
        "text=True",
    ]


def test_values_of_several_lines_and_backslashes_are_escaped():
    assert written({"a": "one\ntwo\r\n", "b": r"c:\new"}) == [r"a=one\ntwo\r\n", r"b=c:\\new"]
