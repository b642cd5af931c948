"""Tasks, defaults and variables of the roles, evaluated by Ansible itself, without a run of it."""

from functools import cache
from pathlib import Path

from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from ansible.utils.collection_loader import AnsibleCollectionConfig

ROLES = Path(__file__).parents[3] / "roles"
LOADER = DataLoader()
# Roles have filters of the collection.
if AnsibleCollectionConfig.collection_finder is None:
    init_plugin_loader([str(ROLES.parents[1] / ".work")])


@cache
def _file(role: str, name: str):
    return LOADER.load_from_file(str(ROLES / role / name), trusted_as_template=True)


def _flat(tasks: list[dict], inherited: dict) -> list[dict]:
    """Tasks with those of their blocks, each with the variables of the blocks around it."""
    found = []
    for task in tasks:
        variables = inherited | task.get("vars", {})
        found.append(task | {"vars": variables})
        found += _flat(task.get("block", []), variables)
    return found


def tasks_of(role: str, file: str) -> list[dict]:
    return _flat(_file(role, f"tasks/{file}"), {})


def task_of(role: str, file: str, name: str) -> dict:
    """The one task of that name."""
    [task] = [task for task in tasks_of(role, file) if task["name"] == name]
    return task


class Host:
    """A host of an inventory, with what a role has found out about it."""

    def __init__(self, role: str, name: str, **known: object):
        own = _file(role, "defaults/main.yml") | _file(role, "vars/main.yml")
        self.variables = own | {"inventory_hostname": name, "groups": {}, "hostvars": {}} | known

    def templar(self, task: dict | None = None, **known: object) -> Templar:
        variables = self.variables | (task or {}).get("vars", {}) | known
        return Templar(LOADER, variables=variables)

    def value(self, name: str, **known: object):
        """A variable of the role."""
        return self.templar(**known).resolve_variable_expression(name)

    def facts(self, task: dict, **known: object) -> dict:
        """What a set_fact sets."""
        return self.templar(task, **known).template(task["ansible.builtin.set_fact"])

    def holds(self, task: dict, what: str = "when", **known: object) -> bool:
        """Whether the conditions of a task hold: when, until, or that of an assert."""
        source = task["ansible.builtin.assert"] if what == "that" else task
        conditions = source[what] if isinstance(source[what], list) else [source[what]]
        templar = self.templar(task, **known)
        return all(templar.evaluate_conditional(condition) for condition in conditions)

    def message(self, task: dict, **known: object) -> str:
        """What a refusal says."""
        return self.templar(task, **known).template(task["ansible.builtin.assert"]["fail_msg"])
