import pytest
from sluice_dist.errors import DistError
from sluice_dist.upstream import Upstream, upstream_faults

GOOD = {
    "name": "toy",
    "version": "1.0",
    "licence": "Apache-2.0",
    "archive": "toy-1.0.tar.gz",
    "sha256": "0" * 64,
    "source": [{"kind": "url", "url": "http://example.org/toy-1.0.tar.gz"}],
}


def test_a_complete_pin_has_no_faults() -> None:
    assert upstream_faults(GOOD) == []


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
