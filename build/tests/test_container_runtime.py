"""The choice of a container runtime, with a podman that works under one configuration only."""

import fcntl
import json
import subprocess
from pathlib import Path

import pytest
from conftest import Project
from sluice_dist import container_runtime
from sluice_dist.container_runtime import ContainerRuntimeError, detect, load_or_detect

# Works where the configuration in CONTAINERS_CONF holds each word of NEEDS.
PODMAN = """\
#!/bin/sh
conf=$(cat "${CONTAINERS_CONF:-/dev/null}")
case $1 in
--version) echo podman version VERSION; exit ;;
info) echo chosen; exit ;;
esac
echo "$@" >> LOG
for word in NEEDS; do
    case $conf in *"$word"*) ;; *) echo "Error: no $word" >&2; exit 126 ;; esac
done
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a podman and the OCI runtimes crun and runc on PATH; gives how to replace podman."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("CONTAINERS_CONF", raising=False)
    for name in ("crun", "runc"):
        install(folder / name, "#!/bin/sh\n")

    def podman(needs: str, version: str = "4.3.1") -> None:
        text = PODMAN.replace("NEEDS", needs).replace("VERSION", version)
        install(folder / "podman", text.replace("LOG", str(tmp_path / "calls")))

    return podman


def install(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def test_a_machine_that_works_keeps_its_own_configuration(machine, tmp_path: Path):
    machine(needs="")
    found = detect(tmp_path / "state")
    assert (found.containers_conf, found.overrides, found.rejected) == (None, {}, [])
    assert found.oci_runtime == "chosen"


def test_the_least_change_that_works_is_chosen(machine, tmp_path: Path):
    machine(needs="default_ulimits runc")
    found = detect(tmp_path / "state")
    assert [entry["candidate"] for entry in found.rejected] == [
        "podman's default runtime",
        "crun",
        "runc",
        "podman's default runtime, no default ulimits",
        "crun, no default ulimits",
    ]
    assert found.rejected[0]["error"] == "Error: no default_ulimits"
    conf = Path(found.overrides["CONTAINERS_CONF"]).read_text()
    assert "default_ulimits = []" in conf
    assert 'runtime = "runc"' in conf


def test_the_probe_runs_a_container_with_limits(machine, tmp_path: Path):
    machine(needs="")
    detect(tmp_path / "state")
    call = (tmp_path / "calls").read_text()
    assert "run --rm --network none --cpus 0.5 --memory 64m" in call


def test_no_runtime_at_all_lists_what_was_tried(machine, tmp_path: Path):
    machine(needs="impossible")
    with pytest.raises(
        ContainerRuntimeError, match=r"(?s)crun: Error: no impossible.*install runc"
    ):
        detect(tmp_path / "state")


def test_a_missing_podman_is_named(machine, tmp_path: Path):
    with pytest.raises(ContainerRuntimeError, match="absent-podman is not installed"):
        detect(tmp_path / "state", "absent-podman")


def test_an_earlier_result_is_used_until_podman_changes(machine, tmp_path: Path):
    state = tmp_path / "state"
    machine(needs="runc")
    first = load_or_detect(state)
    machine(needs="impossible")
    assert load_or_detect(state) == first
    machine(needs="", version="5.0.0")
    assert load_or_detect(state).podman_version == "5.0.0"


def test_a_detection_that_fails_leaves_the_earlier_result(machine, tmp_path: Path):
    machine(needs="runc")
    conf = Path(detect(tmp_path / "state").containers_conf)
    before = conf.read_text()
    machine(needs="impossible")
    with pytest.raises(ContainerRuntimeError):
        detect(tmp_path / "state")
    assert conf.read_text() == before


def test_one_at_a_time_tries_what_works(machine, tmp_path: Path, monkeypatch):
    """Another one would write over the configuration that is tried."""
    machine(needs="")
    seen = []

    def is_held(podman: str, environment: dict[str, str], root: Path) -> None:
        with (root.parent / "lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen.append(root)

    monkeypatch.setattr(container_runtime, "probe", is_held)
    load_or_detect(tmp_path / "state")
    assert len(seen) == 1


def test_what_another_one_has_found_meanwhile_is_used(machine, tmp_path: Path, monkeypatch):
    machine(needs="runc")
    only_one, found = container_runtime.only_one, []

    def behind_another(lock: Path):
        monkeypatch.setattr(container_runtime, "only_one", only_one)
        found.append(detect(lock.parent))
        machine(needs="impossible")
        return only_one(lock)

    monkeypatch.setattr(container_runtime, "only_one", behind_another)
    assert load_or_detect(tmp_path / "state") == found[0]


def test_a_lost_configuration_is_made_again(machine, tmp_path: Path):
    machine(needs="runc")
    conf = Path(detect(tmp_path / "state").containers_conf)
    conf.unlink()
    load_or_detect(tmp_path / "state")
    assert conf.exists()


@pytest.mark.parametrize("half", ["", '{"podman": '])
def test_half_a_result_is_none(machine, tmp_path: Path, half: str):
    machine(needs="")
    first = detect(tmp_path / "state")
    (tmp_path / "state" / "runtime.json").write_text(half)
    assert load_or_detect(tmp_path / "state") == first


def test_a_failed_command_says_what_podman_said(machine, tmp_path: Path):
    machine(needs="")
    found = detect(tmp_path / "state")
    machine(needs="impossible")
    with pytest.raises(
        ContainerRuntimeError, match="podman run ended with 126: Error: no impossible"
    ):
        found.run(["podman", "run"])


def test_the_command_gives_scripts_the_environment(machine, project: Project, capsys):
    machine(needs="runc")
    assert project.run("runtime", "-o", "json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["environment"]["CONTAINERS_CONF"] == said["containers_conf"]
    assert project.run("runtime", "--detect") == 0
    assert "runtime: podman 4.3.1 with chosen" in capsys.readouterr().out


def test_the_configuration_is_read_by_toml(machine, tmp_path: Path):
    machine(needs="default_ulimits runc")
    conf = Path(detect(tmp_path / "state").containers_conf)
    script = "import sys, tomllib; print(tomllib.load(open(sys.argv[1], 'rb')))"
    command = ["/usr/bin/python3", "-c", script, str(conf)]
    read = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert read == "{'containers': {'default_ulimits': []}, 'engine': {'runtime': 'runc'}}\n"
