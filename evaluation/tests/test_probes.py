"""The programs that run on nodes, each also as a bare file without this package."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation.probes import fingerprint, processors, sampler, timeline
from sluice_evaluation.schema import violations

PROBES = Path(fingerprint.__file__).parent
DEADLINE_SECONDS = 300


def bare(name, *arguments, **options):
    """Run a probe the way a node does: isolated, its own file alone."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROBES / f"{name}.py"), *arguments],
        capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False, **options,
    )  # fmt: skip


def wait_until(condition):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_fingerprint_is_what_records_ask_for_and_names_nobody():
    done = bare("fingerprint")
    document = json.loads(done.stdout)
    schema_errors = [v for v in violations({"environment": document}, "record") if "environ" in v]
    assert not [v for v in schema_errors if "required" not in v]
    assert document["cpu"]["count"] == os.cpu_count()
    text = done.stdout.lower()
    assert os.uname().nodename.lower() not in text
    assert str(Path.home()) not in done.stdout


def test_fingerprint_reads_the_kernels_files():
    assert fingerprint.cpu_model("processor: 0\nmodel name\t: Some CPU @ 2 GHz\n") == (
        "Some CPU @ 2 GHz"
    )
    assert fingerprint.memory_bytes("MemTotal:       1024 kB\n") == 1048576
    assert fingerprint.operating_system('NAME="X"\nPRETTY_NAME="X 12"\n') == "X 12"


@pytest.mark.parametrize(
    ("files", "version"),
    [(["cgroup.controllers"], "v2"), (["unified/cgroup.controllers"], "hybrid"), ([], "v1")],
)
def test_control_group_version(tmp_path, files, version):
    for name in files:
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True)
        path.touch()
    assert fingerprint.control_groups(tmp_path) == version


def test_sample_reads_counters():
    assert {n: v for _, n, v in sampler.cpu_samples("cpu 100 0 50 900 5 0 0 1\n", 100)} == {
        "user_seconds": 1, "nice_seconds": 0, "system_seconds": 0.5, "idle_seconds": 9,
        "iowait_seconds": 0.05, "irq_seconds": 0, "softirq_seconds": 0, "steal_seconds": 0.01,
    }  # fmt: skip
    disks = "   7  3 loop3 10 0 16 5 20 0 32 7 1 40 50 0 0 0 0\n 7 4 loop4 0 0 0 0 0 0 0 0 0 0 0\n"
    values = {(s, n): v for s, n, v in sampler.disk_samples(disks)}
    assert values["disk:loop3", "written_bytes"] == 32 * 512
    assert values["disk:loop3", "busy_seconds"] == 0.04
    assert values["disk:loop3", "in_flight_count"] == 1
    assert not any(source == "disk:loop4" for source, _ in values)
    assert list(sampler.pressure_samples("io", "some avg10=0.00 total=2500000\n")) == [
        ("pressure:io", "some_seconds", 2.5)
    ]
    assert list(sampler.memory_samples("MemFree: 2 kB\nOther: 1 kB\n")) == [
        ("memory", "mem_free_bytes", 2048)
    ]


def test_sample_of_control_groups_of_both_versions(tmp_path):
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\nthrottled_usec 500000\n")
    (tmp_path / "memory.current").write_text("4096\n")
    (tmp_path / "cpuacct.usage").write_text("2000000000\n")
    files = sampler.group_files([f"node={tmp_path}"])["node"]
    found = [s for f in files for s in sampler.group_samples("node", f.name, f.read_text())]
    assert sorted(found) == [
        ("group:node", "cpu_seconds", 1.5),
        ("group:node", "cpu_seconds", 2.0),
        ("group:node", "memory_bytes", 4096),
        ("group:node", "throttled_seconds", 0.5),
    ]
    version_1 = "nr_periods 10\nnr_throttled 2\nthrottled_time 250000000\n"
    assert list(sampler.group_samples("node", "cpu.stat", version_1)) == [
        ("group:node", "throttled_seconds", 0.25)
    ]
    with pytest.raises(ValueError, match="NAME=PATH"):
        sampler.group_files(["nonsense"])


def test_sample_of_a_process_is_its_time_in_both_modes(tmp_path):
    text = f"7 (a (b) c) S {' '.join(['0'] * 10)} 150 50 900 900 20 0\n"
    assert list(sampler.process_samples("daemon", text, 100)) == [
        ("process:daemon", "cpu_seconds", 2.0)
    ]
    numbers = sampler.process_numbers(["daemon=7", f"own={os.getpid()}"])
    assert numbers == {"daemon": 7, "own": os.getpid()}
    for bad in ("nonsense", "=7", "daemon=", "daemon=-7"):
        with pytest.raises(ValueError, match="NAME=PID"):
            sampler.process_numbers([bad])


def test_a_process_that_has_ended_is_left_out():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    processes = {"ended": ended.pid, "own": os.getpid()}
    sources = {source for source, _, _ in sampler.read_all(Path("/proc"), {}, processes)}
    assert {s for s in sources if s.startswith("process:")} == {"process:own"}


def test_sample_stops_after_its_rounds(tmp_path):
    output = tmp_path / "samples.csv"
    rounds = sampler.sample(output, 0.01, 0.05, {}, threading.Event())
    lines = output.read_text().splitlines()
    assert lines[0] == "epoch_seconds,source,name,value"
    assert rounds == len({line.split(",")[0] for line in lines[1:]}) or rounds > 1
    assert {line.split(",")[1] for line in lines[1:]} >= {"cpu", "memory"}


def test_a_timer_shows_how_late_it_was_since_it_was_asked_last():
    times = iter([0.0, 0.01, 0.01, 0.09, 0.09, 0.1])
    timer = sampler.TimerProbe(lambda: next(times), lambda seconds: None)
    for _ in range(3):
        timer.step()
    assert list(timer.samples()) == [("timer", "latest_seconds", pytest.approx(0.07))]
    assert list(timer.samples()) == [("timer", "latest_seconds", 0.0)]


def test_sample_ends_on_sigterm_and_never_overwrites(tmp_path):
    output = tmp_path / "samples.csv"
    command = [sys.executable, "-I", "-S", str(PROBES / "sampler.py"), "--interval", "0.05"]
    process = subprocess.Popen([*command, "--output", str(output)])
    wait_until(lambda: output.exists() and output.read_text().count("user_seconds") >= 2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_SECONDS) == 0
    assert ",timer,latest_seconds," in output.read_text()
    again = bare("sampler", "--output", str(output))
    assert again.returncode == 2 and "exists" in again.stderr
    wrong = bare("sampler", "--interval", "0", "--output", str(tmp_path / "x.csv"))
    assert wrong.returncode == 2 and "--interval" in wrong.stderr


def step(name, at_seconds, code, **more):
    argv = [sys.executable, "-S", "-c", code]
    return {"name": name, "kind": "client", "at_seconds": at_seconds, "argv": argv} | more


def follow(tmp_path, *steps):
    (tmp_path / "timeline.json").write_text(json.dumps({"steps": list(steps)}))
    events = tmp_path / "events.jsonl"
    done = bare("timeline", str(tmp_path / "timeline.json"), "--directory", str(tmp_path),
                "--events", str(events))  # fmt: skip
    lines = (
        [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []
    )
    return done, lines


def test_timeline_starts_steps_at_their_time_and_logs_them(tmp_path):
    # The first step ends only when the second has written: they must overlap.
    flag = tmp_path / "flag"
    waiting = f"import os\nwhile not os.path.exists({str(flag)!r}): pass\nprint('first')"
    done, lines = follow(
        tmp_path,
        step("second", 0.2, f"open({str(flag)!r}, 'w')"),
        step("first", 0.0, waiting, output="out/first.txt", timeout_seconds=250),
    )
    assert done.returncode == 0, done.stderr
    assert lines[0]["kind"] == "origin" and lines[0]["epoch_seconds"] > 1.6e9
    logged = {line["name"]: line for line in lines[1:]}
    assert logged["second"]["start_seconds"] >= 0.2
    assert logged["first"]["start_seconds"] < logged["second"]["start_seconds"]
    assert logged["first"]["end_seconds"] >= logged["second"]["start_seconds"]
    assert (tmp_path / "out/first.txt").read_text() == "first\n"


def test_timeline_says_which_step_failed(tmp_path):
    bad = step("bad", 0, "print('no lease left')\nraise SystemExit(3)", output="bad.txt")
    done, lines = follow(tmp_path, step("good", 0, "pass"), bad)
    assert done.returncode == 1
    assert done.stderr == "client bad: exit code 3: no lease left\n"
    assert {line["name"]: line["exit_code"] for line in lines[1:]} == {"good": 0, "bad": 3}


def test_timeline_waits_for_a_file_that_a_step_makes(tmp_path):
    # Due at 0.1 s, were it not for the file, which comes when the maker has run 0.3 s.
    maker = "import time, pathlib; time.sleep(0.3); pathlib.Path('ready.hdr').touch()"
    done, lines = follow(
        tmp_path,
        step("order", 0.1, "pass", after_file="*.hdr"),
        step("maker", 0, maker.replace("'ready", f"'{tmp_path}/ready")),
    )
    assert done.returncode == 0, done.stderr
    assert {line["name"]: line["start_seconds"] for line in lines[1:]}["order"] >= 0.4


def test_timeline_ends_when_the_file_never_comes(tmp_path):
    done, lines = follow(
        tmp_path, step("order", 0, "pass", after_file="*.hdr"), step("client", 0, "pass")
    )
    assert done.returncode == 1
    assert [line["kind"] for line in lines] == ["origin", "client"]


def test_timeline_starts_a_step_when_another_has_ended(tmp_path):
    done, lines = follow(
        tmp_path,
        step("drain", 0.1, "pass", after_step="client"),
        step("client", 0, "import time; time.sleep(0.3)"),
    )
    assert done.returncode == 0, done.stderr
    logged = {line["name"]: line for line in lines[1:]}
    assert logged["drain"]["start_seconds"] >= logged["client"]["end_seconds"] + 0.1


def test_timeline_does_not_go_on_after_a_step_that_failed(tmp_path):
    done, lines = follow(
        tmp_path,
        step("drain", 0, "pass", after_step="client"),
        step("client", 0, "raise SystemExit(1)"),
    )
    assert done.returncode == 1
    assert [line["name"] for line in lines[1:]] == ["client"]


def test_timeline_begins_at_its_time():
    begin = time.time() + 0.2
    timeline.wait_for_begin({"begin_epoch_seconds": begin})
    assert time.time() >= begin
    timeline.wait_for_begin({})


def test_timeline_ends_a_step_that_overruns(tmp_path):
    endless = "import time\nwhile True: time.sleep(60)"
    done, lines = follow(tmp_path, step("endless", 0, endless, timeout_seconds=0.2))
    assert done.returncode == 1
    assert lines[1]["timed_out"] and lines[1]["exit_code"] != 0


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "at least one step"),
        ({"steps": [{"name": "x", "kind": "client", "at_seconds": 0}]}, "lacks argv"),
        ({"steps": [{"name": "x", "kind": "c", "at_seconds": 0, "argv": "ls"}]}, "list of words"),
        ({"steps": [{"name": "x", "kind": "c", "at_seconds": -1, "argv": ["ls"]}]}, "negative"),
    ],
)
def test_wrong_timeline_is_refused(document, message):
    with pytest.raises(timeline.TimelineError, match=message):
        timeline.check(document)


def test_timeline_file_that_is_not_there(tmp_path):
    done = bare("timeline", str(tmp_path / "none.json"), "--events", str(tmp_path / "e"))
    assert done.returncode == 2 and "none.json" in done.stderr


def stat_of(*fields):
    return "cpu  " + " ".join(map(str, fields)) + "\ncpu0 1 2 3\n"


def test_stolen_share_is_of_all_time_that_passed():
    before = stat_of(100, 0, 50, 900, 5, 0, 5, 10, 70, 0)
    after = stat_of(150, 0, 70, 1000, 5, 0, 5, 40, 99, 0)
    assert processors.stolen_share(before, after) == pytest.approx(30 / 200)
    assert processors.stolen_share(before, before) == 0.0


def test_a_window_weighs_turns_by_the_processor_time_that_they_took():
    turns = [(300, 0.1)] * 9 + [(300, 0.9)]
    assert processors.window_rates(turns) == [pytest.approx(3000 / 1.8)]


@given(st.integers(1, 95), st.lists(st.integers(1, 10**6), min_size=95, max_size=95))
def test_windows_are_of_as_many_turns_each_and_lie_within_their_rates(count, rates):
    turns = [(rate, 1.0) for rate in rates[:count]]
    found = processors.window_rates(turns)
    assert len(found) == max(1, count // 10)
    assert min(rates[:count]) <= min(found) and max(found) <= max(rates[:count])


@given(st.lists(st.floats(1, 1e7), min_size=1, max_size=200), st.randoms())
def test_a_summary_is_in_order_and_that_of_the_rates_in_any_order(rates, random):
    found = processors.summary(rates)
    names = ("slowest_tenth", "median", "fastest_tenth")
    values = [found[f"{name}_per_processor_second"] for name in names]
    assert values == sorted(values) and found["spread_ratio"] >= 1
    random.shuffle(rates)
    assert processors.summary(rates) == found


def test_a_neighbour_in_a_fifth_of_the_windows_shows_and_one_odd_window_does_not():
    steady = [1000.0] * 80
    assert processors.summary([*steady, *[500.0] * 20])["spread_ratio"] == 2.0
    assert processors.summary([*steady, *[1000.0] * 19, 1.0])["spread_ratio"] == 1.0


def test_what_is_hardly_late_is_no_pause():
    found = processors.pauses([0.001, 0.009, 0.0841, 0.0, 0.0159], 40.0)
    assert found == {"longest_pause_seconds": 0.0841, "paused_share": 0.0025}
    assert processors.pauses([0.009] * 1000, 1.0) == processors.pauses([], 1.0)


def test_a_processor_that_is_held_up_is_seen(monkeypatch):
    read_clock, held_up_seconds = time.monotonic, []

    def work():
        # Once, in the middle of a turn.
        if not held_up_seconds:
            held_up_seconds.append(0.5)
        return 1

    monkeypatch.setattr(processors, "_system_calls", lambda: work)
    monkeypatch.setattr(processors.time, "monotonic", lambda: read_clock() + sum(held_up_seconds))
    _, late_seconds = processors._use_half(read_clock())
    assert max(late_seconds) > 0.48


def test_processors_are_in_use_while_they_are_looked_at():
    unlimited = ("--most-stolen-share", "1", "--most-spread", "inf")
    done = bare("processors", "--duration", "0.2", *unlimited)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert not violations(seen, "record", "processors")
    assert seen["duration_seconds"] >= 0.2


def test_each_kind_of_work_is_done():
    calls, faults = processors._system_calls(), processors._page_faults()
    faults_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    touched = faults()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults_before >= touched > 1
    assert calls() > 1


SEEN = {
    "duration_seconds": 20.0,
    "stolen_share": 0.0731,
    "longest_pause_seconds": 0.084,
    "paused_share": 0.004,
    "system_calls": processors.summary([1e6] * 10),
    "page_faults": processors.summary([2e5] * 7 + [1e5] * 3),
}


def test_too_much_that_others_have_fails_with_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(processors, "observe", lambda _: SEEN)
    assert processors.main(["--most-spread", "2", "--most-paused-share", "0.004"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == SEEN
    assert "7.3% of the processors' time" in printed.err
    assert "another machine" in printed.err and "page faults" not in printed.err
    assert "held up" not in printed.err
    assert processors.main(["--most-stolen-share", "0.08", "--most-paused-share", "0.003"]) == 1
    printed = capsys.readouterr().err
    assert (
        "page faults were 2.00 times as quick" in printed and "end what else runs here" in printed
    )
    assert "system calls" not in printed and "steal" not in printed
    assert "held up for 0.40% of the time, for as long as 84 ms, more than 0.30%" in printed
    assert processors.main(["--most-stolen-share", "0.08", "--most-spread", "2"]) == 0
