"""The systemd unit of PostgreSQL's instances."""

from images import ROOT

UNIT = ROOT / "build" / "stores" / "postgres" / "debian" / "NAME@.service"


def test_the_postmaster_outlives_a_backend_that_the_kernel_kills():
    lines = UNIT.read_text().splitlines()
    assert {"OOMScoreAdjust=-900", "OOMPolicy=continue", "Restart=on-failure"} <= set(lines)
