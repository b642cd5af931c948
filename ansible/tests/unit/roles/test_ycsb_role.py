"""What role ycsb writes for a store: properties, and the password of the inventories."""

import pytest
from ansible.template import Templar, trust_as_template
from role_files import LOADER, ROLES, Host, task_of

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


@pytest.mark.parametrize("inventory", ["example", "local", "local-postgres-pool"])
def test_the_password_of_the_load_may_be_asked_for_before_the_store_is_made(inventory, tmp_path):
    file = ROLES.parent / "inventories" / inventory / "group_vars" / "ycsb.yml"
    known = {"inventory_postgres": {"postgres_secrets_dir": str(tmp_path)}}
    variables = LOADER.load_from_file(str(file), trusted_as_template=True) | known
    templar = Templar(LOADER, variables=variables)
    password = templar.resolve_variable_expression("inventory_postgres_password")
    assert len(password) == 32 and password.isalnum()
    making = task_of("postgres", "objects.yml", "Make the users")
    user = making["community.postgresql.postgresql_user"]
    host = Host("postgres", "pg1", postgres_secrets_dir=str(tmp_path), item={"name": "ycsb"})
    assert host.templar().template(user["password"]) == password
