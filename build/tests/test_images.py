"""Packages and images of the checkout's stores, run in containers of their own."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from images import PASSWORD, ROOT, Container, Podman, sluice_dist, wait_until

pytestmark = pytest.mark.image

VARIANTS = ("patched", "stock")
FIRST_START = "POSTGRES_PASSWORD_FILE"


@pytest.fixture(scope="session")
def facts(environment: dict[str, str]) -> dict[str, dict]:
    """What `show` says about each variant, whose packages and image are up to date."""
    found = {}
    for variant in VARIANTS:
        release = ["postgres", "--variant", variant, "-o", "json"]
        sluice_dist("package", *release, environment=environment)
        sluice_dist("image", *release, environment=environment)
        found[variant] = json.loads(sluice_dist("show", *release, environment=environment))
    return found


def image(facts: dict[str, dict], variant: str = "patched") -> str:
    return f"localhost/sluice/postgres:{facts[variant]['label']}"


def package_name(facts: dict[str, dict], variant: str) -> str:
    return f"sluice-postgres-{facts[variant]['label']}"


def serve(podman: Podman, reference: str, *command: str, volume: str = "", **settings: str):
    options = [f"--volume={volume}:/var/lib/sluice/postgres"] if volume else []
    return podman.start(reference, *command, options=options, **settings)


def query(container: Container, sql: str) -> str:
    return container.output("psql", "--username=postgres", "-XAtc", sql)


def make_instance(node: Container, prefix: str) -> None:
    """Make instance `main`, as docs/packages-and-images.md says."""
    node.shell(
        f"setpriv --reuid=postgres --regid=postgres --init-groups {prefix}/bin/initdb"
        " --pgdata=/var/lib/sluice/postgres/main --set=unix_socket_directories=/run/sluice/postgres"
    )


def unit_query(node: Container, prefix: str, sql: str) -> str:
    return node.output(f"{prefix}/bin/psql", "-h/run/sluice/postgres", "-Upostgres", "-XAtc", sql)


@pytest.fixture
def installed(node: Container, facts: dict[str, dict]) -> Iterator[Container]:
    """The node with both variants installed beside each other, and no instance."""
    names = [package_name(facts, "patched"), package_name(facts, "stock")]
    names.append(f"{names[0]}-plugin")
    files = " ".join(f"/packages/{name}_*.deb" for name in names)
    node.shell(
        "export DEBIAN_FRONTEND=noninteractive;"
        f"apt-get install --quiet --yes --no-install-recommends {files}"
    )
    yield node
    node.shell("systemctl stop 'sluice-postgres-*.service'; rm -rf /var/lib/sluice/postgres/*")


def test_units_start_and_stop_side_by_side(installed: Container, facts: dict[str, dict]):
    prefixes = {variant: facts[variant]["prefix"] for variant in VARIANTS}
    listed = installed.output(
        "systemctl", "list-units", "--plain", "--no-legend", "sluice-*.service"
    )
    assert listed == ""
    make_instance(installed, prefixes["patched"])
    for variant in VARIANTS:
        unit = f"{package_name(facts, variant)}@main"
        installed.call("systemctl", "start", unit)
        assert unit_query(installed, prefixes[variant], "SELECT 1") == "1"
        pid = installed.output("systemctl", "show", "--property=MainPID", "--value", unit)
        program = installed.shell(f"tr '\\0' '\\n' < /proc/{pid}/cmdline | head -1")
        assert program == f"{prefixes[variant]}/bin/postgres"
        installed.call("systemctl", "stop", unit)
        result = installed.output("systemctl", "show", "--property=Result", "--value", unit)
        assert result == "success"
        assert "database system is shut down" in installed.output("journalctl", f"--unit={unit}")


def test_a_server_without_data_fails_and_says_so(installed: Container, facts: dict[str, dict]):
    started = installed.call(
        "systemctl", "start", f"{package_name(facts, 'stock')}@absent", check=False
    )
    assert started.returncode != 0
    assert "Assertion failed" in started.stderr


def test_the_extension_loads_in_the_patched_server(installed: Container, facts: dict[str, dict]):
    prefix, unit = facts["patched"]["prefix"], f"{package_name(facts, 'patched')}@main"
    make_instance(installed, prefix)
    installed.shell(
        "cd /var/lib/sluice/postgres/main;"
        "echo \"shared_preload_libraries = 'sluice'\" >> postgresql.conf"
    )
    installed.call("systemctl", "start", unit)
    unit_query(installed, prefix, "CREATE EXTENSION sluice")
    assert unit_query(installed, prefix, "SELECT count(*) FROM sluice.leases") == "0"


def test_removal_stops_the_server_and_leaves_data(installed: Container, facts: dict[str, dict]):
    prefix, name = facts["stock"]["prefix"], package_name(facts, "stock")
    make_instance(installed, prefix)
    installed.call("systemctl", "start", f"{name}@main")
    installed.shell(f"apt-get remove --quiet --yes {name}")
    assert installed.call("pgrep", "postgres", check=False).stdout == ""
    said = installed.shell(f"apt-get purge --quiet --yes {name}")
    assert f"{name}: /var/lib/sluice/postgres is left as it is" in said
    assert installed.output("cat", "/var/lib/sluice/postgres/main/PG_VERSION")
    assert installed.call("test", "-e", prefix, check=False).returncode != 0
    other = f"{package_name(facts, 'patched')}@main"
    installed.call("systemctl", "start", other)
    assert unit_query(installed, facts["patched"]["prefix"], "SELECT 1") == "1"


@pytest.mark.parametrize("variant", VARIANTS)
def test_labels_are_those_of_show(podman: Podman, facts: dict[str, dict], variant: str):
    labels = podman.inspect_image(image(facts, variant))["Labels"]
    assert facts[variant]["labels"].items() <= labels.items()
    assert labels["org.opencontainers.image.version"] == facts[variant]["label"]


def test_the_bill_of_materials_is_inside_and_beside(podman: Podman, facts: dict[str, dict]):
    label = facts["patched"]["label"]
    path = f"/usr/share/sluice/sbom/postgres-{label}.spdx.json"
    inside = podman.call("run", "--rm", image(facts), "cat", path).stdout
    assert inside == (ROOT / f".work/images/postgres-{label}.spdx.json").read_text()
    packages = {package["name"]: package for package in json.loads(inside)["packages"]}
    source = packages["postgresql"]["checksums"][0]["checksumValue"]
    assert source == facts["patched"]["source_sha256"]
    assert {"libc6", "libicu72", "openssh-server", "sluice-postgres-plugin"} <= set(packages)


def test_data_outlive_the_container(podman: Podman, facts: dict[str, dict]):
    volume = podman.volume()
    first = serve(podman, image(facts), "-c", "shared_buffers=64MB", volume=volume, **PASSWORD)
    first.wait_until_healthy()
    assert query(first, "SHOW shared_buffers") == "64MB"
    query(first, "CREATE TABLE kept AS SELECT 42 AS value")
    podman.call("stop", "--time=60", first.name)
    assert first.state()["ExitCode"] == 0
    podman.call("start", first.name)
    first.wait_until_healthy()
    assert query(first, "TABLE kept") == "42"
    podman.call("rm", "--force", first.name)
    second = serve(podman, image(facts, "stock"), volume=volume)
    second.wait_until_healthy()
    assert query(second, "TABLE kept") == "42"


def test_sigterm_is_a_fast_stop(podman: Podman, facts: dict[str, dict]):
    container = serve(podman, image(facts), **PASSWORD)
    container.wait_until_healthy()
    podman.call(
        "exec", "--detach", container.name, "psql", "-Upostgres", "-c", "SELECT pg_sleep(1e6)"
    )
    busy = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
    wait_until("the client is connected", lambda: query(container, busy) == "1")
    podman.call("kill", "--signal=TERM", container.name)
    wait_until("the server is gone", lambda: container.state()["Status"] == "exited")
    assert container.state()["ExitCode"] == 0
    assert "received fast shutdown request" in container.log()


def test_the_network_needs_the_password(podman: Podman, facts: dict[str, dict], tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("from a file\n")
    container = podman.start(
        image(facts),
        options=[f"--volume={secret}:/run/secrets/password:ro"],
        POSTGRES_PASSWORD_FILE="/run/secrets/password",
    )
    container.wait_until_healthy()
    login = "psql -h127.0.0.1 -Upostgres -wXAtc 'SELECT 1'"
    assert container.call("sh", "-c", login, check=False).returncode != 0
    assert container.shell(f"PGPASSWORD='from a file' {login}") == "1"
    processes = container.shell(
        "cat /proc/1/environ /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"
    )
    assert "from a file" not in processes


REFUSED = {
    "no password": ({}, "no password for one"),
    "both passwords": ({**PASSWORD, FIRST_START: "/x"}, "are both set"),
    "an absent file": ({FIRST_START: "/absent"}, "'/absent' is not readable"),
    "an unknown method": ({**PASSWORD, "POSTGRES_HOST_AUTH_METHOD": "md4"}, "'md4'"),
    "a relative folder": ({**PASSWORD, "PGDATA": "data"}, "PGDATA is 'data'"),
    "other files": ({**PASSWORD, "PGDATA": "/usr/share"}, "holds something that is no data"),
    "a wrong option": ({**PASSWORD, "POSTGRES_INITDB_ARGS": "--wrong"}, "initdb failed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_settings_are_refused(podman: Podman, facts: dict[str, dict], case: str):
    settings, message = REFUSED[case]
    container = serve(podman, image(facts), **settings)
    wait_until("the container ended", lambda: container.state()["Status"] == "exited")
    assert container.state()["ExitCode"] == 64
    assert message in container.log()
    assert "what to do:" in container.log()


def test_a_mounted_data_directory_is_refused(podman: Podman, facts: dict[str, dict]):
    options = [f"--volume={podman.volume()}:/var/lib/sluice/postgres/main"]
    container = podman.start(image(facts), options=options, **PASSWORD)
    wait_until("the container ended", lambda: container.state()["Status"] == "exited")
    assert "mount the volume on /var/lib/sluice/postgres" in container.log()


def test_data_of_another_version_are_refused(podman: Podman, facts: dict[str, dict]):
    volume = podman.volume()
    script = "cd /var/lib/sluice/postgres; mkdir -m 700 main; echo 9.6 > main/PG_VERSION"
    mount = f"--volume={volume}:/var/lib/sluice/postgres"
    podman.call("run", "--rm", mount, image(facts), "sh", "-c", script)
    container = serve(podman, image(facts), volume=volume)
    wait_until("the container ended", lambda: container.state()["Status"] == "exited")
    assert "was made by PostgreSQL 9.6" in container.log()


def test_the_image_is_a_node_too(podman: Podman, facts: dict[str, dict]):
    nodes = [podman.node(image(facts)) for _ in range(2)]
    for node in nodes:
        assert node.output("systemctl", "is-system-running") == "running"
        node.wait_until_healthy()
        node.call("systemctl", "is-active", "ssh.service")
    keys = {node.output("cat", "/etc/ssh/ssh_host_ed25519_key.pub") for node in nodes}
    machines = {node.output("cat", "/etc/machine-id") for node in nodes}
    assert (len(keys), len(machines)) == (2, 2)
    podman.call("stop", "--time=60", nodes[0].name)
    assert nodes[0].state()["ExitCode"] in (0, 130)


@pytest.mark.parametrize("target", ["node", "postgres"])
def test_two_builds_have_the_same_files(podman: Podman, facts: dict[str, dict], target: str):
    def layers() -> list[str]:
        command = ["image", target, "--rebuild", "-o", "json"]
        built = json.loads(sluice_dist(*command, environment=podman.environment))
        return podman.inspect_image(built["reference"])["RootFS"]["Layers"]

    assert layers() == layers()


def test_an_archive_holds_the_image(podman: Podman, facts: dict[str, dict], tmp_path: Path):
    archive = tmp_path / "image.tar"
    command = ["image", "postgres", "--archive", str(archive)]
    sluice_dist(*command, environment=podman.environment)
    listed = subprocess.run(
        ["tar", "--list", "--file", archive], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "index.json" in listed
    blobs = [name for name in listed if name.startswith("blobs/sha256/") and name[-1] != "/"]
    for blob in blobs:
        content = subprocess.run(
            ["tar", "--extract", "--to-stdout", "--file", archive, blob],
            check=True,
            capture_output=True,
        ).stdout
        assert hashlib.sha256(content).hexdigest() == Path(blob).name
