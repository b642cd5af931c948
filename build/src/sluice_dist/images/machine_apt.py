"""What apt on this machine is configured with: where Debian comes from, and how it is reached.

Images are made from the machine's own package sources, so that no host name stands in a recipe.
"""

import subprocess
from urllib.parse import urlsplit, urlunsplit

from sluice_dist.errors import DistError

# What decides whether a download succeeds; the rest of the machine's settings stays its own.
ACQUIRE_SETTINGS = (
    "Acquire::http",
    "Acquire::https",
    "Acquire::Proxy",
    "Acquire::Retries",
    "Acquire::Check-Valid-Until",
    "Acquire::Check-Date",
)
INDEX_FORMAT = "$(REPO_URI)\t$(CODENAME)\t$(COMPONENT)\t$(ORIGIN)"


def source_lines(suite: str) -> list[str]:
    """One-line sources.list entries of Debian's `suite`, its updates and security updates.

    Only archives of origin Debian count: an image must not depend on a third party's packages
    that this machine happens to use. Raises DistError when apt has no index of `suite`.
    """
    command = ["apt-get", "indextargets", "--format", INDEX_FORMAT, "Created-By: Packages"]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    lines = parse_index_targets(done.stdout, suite)
    if not lines:
        raise DistError(
            f"apt has no package index of Debian {suite} on this machine",
            f"add {suite} to /etc/apt/sources.list.d and run `apt-get update`",
        )
    return lines


def parse_index_targets(listing: str, suite: str) -> list[str]:
    """Entries of `suite` from `apt-get indextargets --format INDEX_FORMAT`, sorted.

    User and password of an address are left out: the entries go into images.
    """
    wanted = {suite, f"{suite}-updates", f"{suite}-security"}
    components: dict[tuple[str, str], set[str]] = {}
    for row in listing.splitlines():
        uri, codename, component, origin = row.split("\t")
        if origin == "Debian" and codename in wanted:
            components.setdefault((codename, without_user(uri)), set()).add(component)
    return [
        f"deb {uri} {codename} {' '.join(sorted(names))}"
        for (codename, uri), names in sorted(components.items())
    ]


def without_user(uri: str) -> str:
    """The address without the user and the password that it may hold."""
    parts = urlsplit(uri)
    if "@" not in parts.netloc:
        return uri
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def acquire_configuration() -> str:
    """The machine's download settings (proxy, retries, date checks) as apt.conf(5) text."""
    done = subprocess.run(["apt-config", "dump"], text=True, capture_output=True, check=True)
    return select_acquire_settings(done.stdout)


def select_acquire_settings(dump: str) -> str:
    """The lines of `apt-config dump` that ACQUIRE_SETTINGS names, with a value.

    Addresses that hold a user or password are left out: the text goes into images.
    """
    kept = []
    for line in dump.splitlines():
        name, _, value = line.partition(" ")
        named = any(name == wanted or name.startswith(f"{wanted}::") for wanted in ACQUIRE_SETTINGS)
        if named and value != '"";' and "@" not in value:
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)
