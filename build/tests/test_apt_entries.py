from pathlib import Path

from sluice_dist.apt_entries import Archive, archives_in
from sluice_dist.sources.debian_source import candidates

DEB822 = """\
# a comment
Types: deb
URIs: http://deb.example.org/debian/
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb deb-src
URIs: http://deb.example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEAAAA
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: https://deb.example.org/node_20.x
Suites: nodistro
Components: main

Enabled: no
Types: deb
URIs: http://off.example.org/debian
Suites: bookworm
Components: main
"""
ONE_LINE = """\
# deb http://commented.example.org/debian bookworm main
deb [arch=amd64 trusted=yes] http://mirror.example.org/debian bookworm main non-free # here
deb-src http://mirror.example.org/debian trixie main
deb http://packages.example.org/apt cloud-sdk-bookworm main
deb http://contrib.example.org/debian bookworm contrib
deb http://flat.example.org/debian ./
"""


def read(tmp_path: Path, name: str, text: str) -> list[Archive]:
    (tmp_path / name).write_text(text)
    return archives_in([tmp_path / name])


def test_deb822_entries(tmp_path: Path) -> None:
    plain, security = read(tmp_path, "debian.sources", DEB822)
    assert plain.uri == "http://deb.example.org/debian"
    assert plain.suites == ("bookworm", "bookworm-updates")
    assert plain.options == (("signed-by", "/usr/share/keyrings/debian.gpg"),)
    assert security.suites == ("bookworm-security",)
    key = dict(security.options)["signed-by"]
    assert key.splitlines()[1:3] == [" -----BEGIN PGP PUBLIC KEY BLOCK-----", " ."]


def test_one_line_entries(tmp_path: Path) -> None:
    binaries, sources = read(tmp_path, "sources.list", ONE_LINE)
    assert binaries == Archive(
        "http://mirror.example.org/debian", ("bookworm",), (("trusted", "yes"),)
    )
    assert sources.suites == ("trixie",)


def test_own_suites_come_first_then_the_same_archives_others() -> None:
    plain = Archive("http://a/debian", ("bookworm", "bookworm-updates"))
    security = Archive("http://a/debian-security", ("bookworm-security",))
    order = [(archive.uri[8:], suite) for archive, suite in candidates([plain, security])]
    assert order[:6] == [
        ("/debian", "bookworm"),
        ("/debian", "bookworm-updates"),
        ("/debian-security", "bookworm-security"),
        ("/debian", "stable"),
        ("/debian", "stable-updates"),
        ("/debian-security", "stable-security"),
    ]
    assert ("/debian-security", "trixie-security") in order
    assert ("/debian-security", "trixie") not in order
    assert len(order) == len(set(order))
