"""How the measurement of blocks on four devices is read."""

import pytest
from pool_blocks import figures_of


def found(write: float, read: float, small: float) -> dict[str, float]:
    return {
        "write_bytes_per_second": write,
        "read_bytes_per_second": read,
        "small_read_p50_seconds": small,
        "small_read_p99_seconds": 2 * small,
        "create_p50_seconds": 0.005,
        "sync_p50_seconds": 0.009,
        "seal_p50_seconds": 0.034,
        "table_p50_seconds": 10 * small,
        "write_cpu_seconds_per_byte": 3e-9,
        "read_cpu_seconds_per_byte": 4e-9,
    }


def rounds() -> list[dict[str, dict[str, float]]]:
    return [
        {
            "device": found(60 + n, 61 + n, 0.001),
            "pool-1-copy": found(4 * (60 + n), 2 * (61 + n), 0.0012),
            "pool-2-copies": found(2 * (60 + n), 4 * (61 + n), 0.002),
        }
        for n in range(4)
    ]


def test_the_pool_stands_beside_the_device_of_its_round():
    by_name = {figure.quantity: figure for figure in figures_of(rounds())}
    written = by_name["four devices, one copy: written, over one device"]
    assert (written.value, written.status) == (pytest.approx(4.0), "met")
    read = by_name["four devices, one copy: read from begin to end, over one device"]
    assert (read.value, read.status) == (pytest.approx(2.0), "missed")
    small = by_name["four devices, two copies: p50 of reads of 4 KiB, over one device"]
    assert (small.value, small.status) == (pytest.approx(2.0), "missed")
    assert by_name["four devices, two copies: written, over one device"].status == ""


def test_processor_time_is_of_a_gigabyte():
    by_name = {figure.quantity: figure for figure in figures_of(rounds())}
    assert by_name["one device alone: processor time of 1 GB written"].value == pytest.approx(3.0)
    assert by_name["four devices, two copies: processor time of 1 GB read"].value == pytest.approx(
        4.0
    )


def test_commits_are_figures_of_their_own():
    by_name = {figure.quantity: figure for figure in figures_of(rounds())}
    assert by_name["four devices, two copies: p50 of sealing it"].value == pytest.approx(0.034)
    table = by_name["four devices, two copies: p50 of files of 4 MiB, sealed, over one device"]
    assert (table.value, table.status) == (pytest.approx(2.0), "")
