"""The project's own rules hold for every file, and each finds its bad example."""

from pathlib import Path

import pytest
import rules
from source_files import TOP, source_files, text_of

# Joined here so that this file keeps the rules itself.
REGISTRY_URL = "https:" + "//repo1.maven.org/maven2/"
MACHINE_PATH = "/" + "root/data"

BAD_EXAMPLES = [
    (rules.short, "build/src/long.py", "pass\n" * 401),
    (rules.short, "build/run-it", "#!/bin/sh\n" + "true\n" * 400),
    (rules.telling_name, "build/src/disk_utils.py", ""),
    (rules.telling_name, "ycsb-bindings/src/ConnectionManager.java", ""),
    (rules.no_registry_host, "build/fetch.py", f"get('{REGISTRY_URL}')\n"),
    (rules.no_machine_path, "docs/setup.md", f"Look into {MACHINE_PATH}\n"),
    (rules.tidy_whitespace, "docs/setup.md", "text \n"),
    (rules.tidy_whitespace, "docs/setup.md", "text"),
    (rules.links_resolve, "docs/setup.md", "See [it](no-such-page.md#part).\n"),
]

GOOD_EXAMPLES = [
    (rules.short, "results/a/record.json", "{}\n" * 500),
    (rules.short, "build/src/long.py", "pass\n" * 400),
    (rules.telling_name, "build/src/utility_rates.py", ""),
    (rules.telling_name, "ansible/plugins/module_utils/disk.py", ""),
    (
        rules.no_registry_host,
        "build/copyright",
        "https://www.debian.org/doc/copyright-format/1.0/\n",
    ),
    (rules.no_machine_path, ".gitignore", "/.work/stage\n"),
    (rules.tidy_whitespace, "plugins/postgres/expected/a.out", " a | b \n"),
    (rules.tidy_whitespace, "patches/postgres/17.11/0001-hook.patch", "context: \n \n"),
    (rules.links_resolve, "README.md", "[c](LICENSE) [w](https://example.org/x) [a](#part)\n"),
]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps(rule, monkeypatch):
    monkeypatch.chdir(TOP)
    wrong = []
    for path in source_files():
        if (text := text_of(path)) is not None:
            wrong += [f"{path}: {problem}" for problem in rule(path, text)]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def label(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("rule", "path", "text"), BAD_EXAMPLES, ids=label)
def test_rule_finds(rule, path, text, monkeypatch):
    monkeypatch.chdir(TOP)
    assert rule(Path(path), text)


@pytest.mark.parametrize(("rule", "path", "text"), GOOD_EXAMPLES, ids=label)
def test_rule_lets_pass(rule, path, text, monkeypatch):
    monkeypatch.chdir(TOP)
    assert rule(Path(path), text) == []


def test_every_rule_has_a_bad_example():
    assert {rule for rule, _, _ in BAD_EXAMPLES} == set(rules.RULES)
