import pytest
from sluice_dist.errors import DistError
from sluice_dist.upstream import Upstream, archives_of, upstream_faults

GOOD = {
    "name": "toy",
    "version": "1.0",
    "licence": "Apache-2.0",
    "archive": "toy-1.0.tar.gz",
    "sha256": "0" * 64,
    "source": [{"kind": "url", "url": "http://example.org/toy-1.0.tar.gz"}],
}
MODULE = {"artifact": "org.toy:toy-server:1.0", "sha256": "0" * 64}
GOOD_MODULES = {"name": "toy", "version": "1.0", "licence": "Apache-2.0", "module": [MODULE]}


def test_a_complete_pin_has_no_faults() -> None:
    assert upstream_faults(GOOD) == []
    assert upstream_faults(GOOD_MODULES) == []


def test_a_module_is_an_archive_from_maven() -> None:
    (archive,) = archives_of(GOOD_MODULES)
    assert archive.name == "toy-server-1.0-sources.jar"
    assert archive.module == "toy-server"
    assert archive.sources == ({"kind": "maven", "artifact": "org.toy:toy-server:1.0:jar:sources"},)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"artifact": "toy-server"}, "[[module]] 1: 'artifact' has to be group:name:version"),
        ({"sha256": "ABC"}, "[[module]] 1: 'sha256' has to be 64 lower-case"),
        ({"folder": "../toy"}, "inside upstream's repository"),
        ({"generated": "tmpl"}, "'generated' has to be a list"),
        ({"root": "x"}, "[[module]] 1: 'root' is not a known key"),
    ],
)
def test_a_wrong_module_is_explained(change: dict, told: str) -> None:
    faults = upstream_faults(GOOD_MODULES | {"module": [MODULE | change]})
    assert any(told in fault for fault in faults)


def test_a_store_has_an_archive_or_modules() -> None:
    assert "'archive' is not a known key" in upstream_faults(GOOD_MODULES | {"archive": "a.tar"})
    assert any("[[module]]" in fault for fault in upstream_faults(GOOD_MODULES | {"module": []}))


def test_the_hash_of_several_modules_depends_on_each() -> None:
    other = MODULE | {"artifact": "org.toy:toy-common:1.0"}
    pins = [
        Upstream("toy", "1.0", "Apache-2.0", archives_of({"module": modules}))
        for modules in ([MODULE], [MODULE, other], [MODULE, other | {"sha256": "1" * 64}])
    ]
    assert pins[0].sha256 == MODULE["sha256"]
    assert len({pin.sha256 for pin in pins}) == 3
    assert len({pin.tree_sha256 for pin in pins}) == 3


@pytest.mark.parametrize("key", ["name", "version", "licence", "archive", "sha256"])
def test_a_missing_key_is_named(key: str) -> None:
    faults = upstream_faults({name: value for name, value in GOOD.items() if name != key})
    assert any(f"'{key}'" in fault for fault in faults)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sha256": "ABC"}, "64 lower-case"),
        ({"archive": "../toy.tar.gz"}, "plain file name"),
        ({"maximum_changed_lines": 121}, "only lower the bound 120"),
        ({"maximum_changed_lines": "many"}, "only lower the bound 120"),
        ({"source": []}, "no [[source]]"),
        ({"source": [{"url": "x"}]}, "[[source]] 1 has no 'kind'"),
        ({"sorce": 1}, "'sorce' is not a known key"),
    ],
)
def test_a_wrong_value_is_explained(change: dict, told: str) -> None:
    assert any(told in fault for fault in upstream_faults(GOOD | change))


def test_a_file_that_is_not_toml_is_an_error(tmp_path) -> None:
    (tmp_path / "upstream.toml").write_text("name = ")
    with pytest.raises(DistError, match="is not TOML"):
        Upstream.load(tmp_path / "upstream.toml")


def test_a_missing_file_is_an_error(tmp_path) -> None:
    with pytest.raises(DistError, match="is missing"):
        Upstream.load(tmp_path / "upstream.toml")
