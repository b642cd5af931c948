"""Raw output of runs from a seeded model, for tests of everything behind it.

Nothing here was measured: it only has the shape of what a runner leaves behind. It is written to
temporary folders and must never be put among results.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sluice_evaluation.histograms import Interval, from_values, write_log
from sluice_evaluation.records import utc

EPOCH = 1_600_000_000.0
OPERATIONS_PER_INTERVAL = 40
JAVA_START_SECONDS = 0.75
DRAIN_SECONDS = 2.0
LABELS = {
    "org.opencontainers.image.version": "0.0-synthetic",
    "dev.sluice.upstream.version": "17.11",
    "dev.sluice.source.sha256": "0" * 64,
    "dev.sluice.series.sha256": "1" * 64,
    "dev.sluice.plugin.sha256": "2" * 64,
}
FINGERPRINT = {
    "schema_version": 1,
    "cpu": {"model": "Synthetic CPU", "count": 2},
    "memory_bytes": 8_000_000_000,
    "kernel": "0.0-synthetic",
    "operating_system": "Synthetic Linux",
    "control_groups": "v2",
    "clock_source": "tsc",
    "versions": {"python": "3.11.2"},
}


def slowness(planned: dict[str, Any]) -> float:
    """How much slower requests of a cell are during checkpoints; what the tests look for."""
    arm = planned["factors"].get("arm")
    if arm is not None:
        stock = {"stock 0.1": 60.0, "stock 0.9": 25.0, "stock, tuned": 20.0}
        return stock.get(arm, 3.0)
    settings = planned["settings"]
    small = str(settings["max_wal_size"]) in {"128MB", "32MB"}
    return (8.0 if small else 4.0) * (1.2 - float(settings["checkpoint_completion_target"]))


def write_raw(
    planned: dict[str, Any], raw: Path, labels: dict[str, str] = LABELS, scale: float = 1.0
) -> Path:
    """Write the raw folder of one run."""
    random = np.random.default_rng(abs(hash_of(planned)) % 2**32)
    origin = EPOCH + hash_of(planned) % 10_000_000
    raw.mkdir(parents=True)
    checkpoints = checkpoint_times(planned)
    for client in planned["clients"]:
        _write_client(planned, client, raw, origin, checkpoints, random, scale)
    _write_log_file(raw, origin, checkpoints, planned, random)
    _write_timeline(raw, origin, planned)
    _write_samples(raw, origin, planned, random)
    _write_control(raw, origin, planned)
    _write_compactions(raw, origin, planned)
    documents = {
        "run.json": {
            "started_at": utc(origin - 12),
            "ended_at": utc(origin + planned["duration_seconds"] + 5),
            "load": {"restored_from_copy": True, "seconds": 4.2},
        },
        "fingerprint.json": FINGERPRINT,
        "software.json": {"labels": labels, "versions": {"ycsb": "0.17.0"}},
        "settings.json": {name: str(value) for name, value in planned["settings"].items()},
        "metrics.json": {"written_bytes": 123456789},
    }
    for name, document in documents.items():
        (raw / name).write_text(json.dumps(document))
    return raw


def hash_of(planned: dict[str, Any]) -> int:
    """A number of the cell and run that is the same in every process."""
    text = f"{planned['experiment']}/{planned['cell']}/{planned['run']}"
    return sum((i + 1) * ord(c) for i, c in enumerate(text)) * 2654435761 % 2**31


def checkpoint_times(planned: dict[str, Any]) -> list[tuple[float, float]]:
    end = planned["phases"][-1]["end_seconds"]
    period = max(4.0, end / 4)
    return [(start, start + period / 2) for start in np.arange(period / 2, end, period)]


def _write_client(
    planned: dict[str, Any],
    client: dict[str, Any],
    raw: Path,
    origin: float,
    checkpoints: list[tuple[float, float]],
    random: np.random.Generator,
    scale: float,
) -> None:
    directory = raw / "clients" / client["name"]
    directory.mkdir(parents=True)
    begin = client["start_seconds"]
    block = 1 + 0.1 * np.sin(planned["block"])
    for operation in planned["operations"] + planned.get("operations_apart", []):
        logs: dict[str, list[Interval]] = {operation: [], f"Intended-{operation}": []}
        for second in np.arange(begin, begin + client["duration_seconds"]):
            busy = any(s <= second < e for s, e in checkpoints)
            count = OPERATIONS_PER_INTERVAL
            base = random.lognormal(6.6, 0.35, count) * block * scale * random.normal(1, 0.02)
            slow = random.random(count) < (0.2 if busy else 0.002)
            measured = np.where(slow, base * (1 + slowness(planned)), base)
            for name, factor in zip(logs, (1.0, 1.3), strict=True):
                values = np.maximum(measured * factor, 1).astype(int)
                start = origin + float(second)
                logs[name].append(Interval(start, start + 1, from_values(values)))
        for name, intervals in logs.items():
            write_log(directory / f"{name}.hdr", intervals)
    (directory / "run.properties").write_text(
        f"#made by a test\nsluice.run.start_unix_milliseconds={round((origin + begin) * 1000)}\n"
    )
    overall = {"Operations": 1000, "UnissuedOperations": 0, "FailedOperations": 0}
    (directory / "measurements.json").write_text(
        json.dumps(
            [{"metric": "OVERALL", "measurement": k, "value": v} for k, v in overall.items()]
        )
    )


def _write_log_file(
    raw: Path, origin: float, checkpoints: list, planned: dict, random: np.random.Generator
) -> None:
    lines = []
    for start, end in checkpoints:
        lines.append(f"{origin + start:.3f} LOG:  checkpoint starting: wal")
        total = end - start
        lines.append(
            f"{origin + end:.3f} LOG:  checkpoint complete: wrote 100 buffers (0.3%); "
            f"0 WAL file(s) added, 0 removed, 1 recycled; write={total - 0.5:.3f} s, sync=0.400 s, "
            f"total={total:.3f} s; sync files=5, longest=0.300 s, average=0.080 s; "
            "distance=65536 kB, estimate=65536 kB; lsn=0/1, redo lsn=0/1"
        )
    if planned["measure"]["redo_after_kill"]:
        moment = origin + planned["duration_seconds"] + 2
        slow = 0.9 + 0.1 * random.random()
        lines.append(
            f"{moment:.3f} LOG:  redo done at 0/1 system usage: CPU: user: 0.30 s, "
            f"system: 0.10 s, elapsed: {slow:.2f} s"
        )
    (raw / "logs").mkdir()
    (raw / "logs" / "postgres.log").write_text("\n".join(lines) + "\n")


def _write_timeline(raw: Path, origin: float, planned: dict[str, Any]) -> None:
    lines: list[dict[str, Any]] = [{"kind": "origin", "epoch_seconds": origin}]
    for kind, steps in (("client", planned["clients"]), ("order", planned["orders"])):
        for step in steps:
            start = step.get("start_seconds", step.get("at_seconds"))
            lines.append({
                "kind": kind, "name": step["name"], "start_seconds": start + 0.01,
                "end_seconds": start + step.get("duration_seconds", 0.02),
                "exit_code": 0, "timed_out": False,
            })  # fmt: skip
    if planned["measure"].get("drain", False):
        clients = [line for line in lines if line["kind"] == "client"]
        lines += [drain_of(line, DRAIN_SECONDS) for line in clients]
    # The Java machine of a client takes this long to begin.
    lines[0]["epoch_seconds"] -= JAVA_START_SECONDS
    (raw / "timeline.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def drain_of(client: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The step that waits behind a client until nothing is left to do."""
    end = client["end_seconds"]
    times = {"start_seconds": end, "end_seconds": end + seconds}
    return client | {"kind": "drain", "name": f"drain-{client['name']}"} | times


def _write_samples(raw: Path, origin: float, planned: dict, random: np.random.Generator) -> None:
    rows = ["epoch_seconds,source,name,value"]
    for second in range(int(planned["duration_seconds"])):
        rows.append(f"{origin + second:.3f},cpu,user_seconds,{second * 0.8 + random.random():.3f}")
    (raw / "samples").mkdir()
    (raw / "samples" / "host.csv").write_text("\n".join(rows) + "\n")


def _write_control(raw: Path, origin: float, planned: dict[str, Any]) -> None:
    lines = []
    for number, policy in enumerate(planned.get("policies", [])):
        decision = {"policy": policy["name"], "reason": "synthetic", "made_at": utc(origin + 3)}
        setting = {"name": "rate_bytes_per_second", "number": 5e6}
        lines.append(decision | {"verdict": "VERDICT_CHANGE", "setting": setting})
        lines.append(decision | {"verdict": "VERDICT_STOP", "sequence": str(number)})
        last = utc(origin + _last_decision_seconds(planned))
        lines.append(decision | {"verdict": "VERDICT_KEEP", "setting": setting, "made_at": last})
    if lines:
        text = "".join(json.dumps({"decision": line}) + "\n" for line in lines)
        (raw / "decisions.jsonl").write_text(text)
    faults = [
        {"name": fault["name"], "epoch_seconds": origin + fault["at_seconds"]}
        for fault in planned.get("faults", [])
    ]
    if faults:
        (raw / "faults.jsonl").write_text("".join(json.dumps(line) + "\n" for line in faults))


def _last_decision_seconds(planned: dict[str, Any]) -> float:
    ends = [fault["at_seconds"] for fault in planned.get("faults", [])]
    return min([planned["duration_seconds"], *ends])


def _write_compactions(raw: Path, origin: float, planned: dict[str, Any]) -> None:
    """What a region server logs of a compaction that an order led to."""
    if planned["store"] != "hbase":
        return
    lines = [
        compaction_lines(origin, order["at_seconds"] + 0.1, order["at_seconds"] + 2)
        for order in planned["orders"]
    ]
    (raw / "logs" / "regionserver.log").write_text("".join(lines))


def compaction_lines(origin: float, start_seconds: float, end_seconds: float) -> str:
    """The region server's log of a major compaction."""
    store = f"hdfs://hb1:8020/hbase/data/default/usertable/{'a' * 32}"
    messages = {
        start_seconds: f"Starting compaction of [{store}/f/1, {store}/f/2] into "
        f"tmpdir={store}/.tmp, totalSize=1.5 M",
        end_seconds: "Completed major compaction of 2 (all) file(s) in f of usertable, "
        "total size for store is 1.4 M.",
    }
    return "".join(
        f"{round((origin + seconds) * 1000)} INFO [a-0] HStore: {message}\n"
        for seconds, message in messages.items()
    )
