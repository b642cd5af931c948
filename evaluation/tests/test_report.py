"""The report: same bytes from the same records, nothing hidden, nothing fetched."""

import dataclasses
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sluice_evaluation import assemble, cli, records, report
from sluice_evaluation.analysis import Study, studies
from sluice_evaluation.claims import claim_rows
from sluice_evaluation.figures.distributions import over_time, prepare_time
from sluice_evaluation.figures.style import DARK, LIGHT
from sluice_evaluation.plan import make_plan
from synthetic import write_raw

VOID = {"meta", "link", "img", "source", "br", "hr", "input"}


class Page(HTMLParser):
    """Tags with attributes, texts, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.stack = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        self.texts.append(data)

    def links(self, attribute):
        return [attrs[attribute] for _, attrs in self.tags if attrs.get(attribute)]


@pytest.fixture(scope="module")
def results(smoke_results, tmp_path_factory):
    """The synthetic records with one failure added."""
    folder = tmp_path_factory.mktemp("with-failure") / "results"
    shutil.copytree(smoke_results, folder)
    cell = folder / "postgres-checkpoint/smoke/wal128_ct0.5_a_t10_throttle"
    planned = json.loads((cell / "01/record.json").read_text())["plan"]
    raw = folder.parent / "raw"
    raw.mkdir()
    times = {"started_at": "2020-01-01T00:00:00Z", "ended_at": "2020-01-01T00:00:09Z"}
    (raw / "run.json").write_text(json.dumps(times))
    plan = {"experiment_sha256": "0" * 64}
    assemble.record_failure(plan, planned, raw, folder, "start", "no <space> left")
    # As of a cell that the experiment has had.
    gone = planned | {"cell": "wal999_ct0.5_a_t10_throttle"}
    assemble.record_failure(plan, gone, raw, folder, "load", "of an earlier cell")
    return folder


@pytest.fixture(scope="module")
def written(results, experiments_folder):
    return report.write(results, experiments_folder, results / "report")


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text())


def test_same_records_same_bytes(results, written, tmp_path, monkeypatch, experiments_folder):
    # Elsewhere, at another time zone, from a copy of the records: nothing may leak in.
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    copy = tmp_path / "another" / "results"
    shutil.copytree(results, copy, ignore=shutil.ignore_patterns("report"))
    again = report.write(copy, experiments_folder, copy / "report")
    first = {p.relative_to(written.parent): p for p in written.parent.rglob("*") if p.is_file()}
    second = {p.relative_to(again.parent): p for p in again.parent.rglob("*") if p.is_file()}
    assert first.keys() == second.keys() and len(first) > 30
    differing = [str(k) for k in first if first[k].read_bytes() != second[k].read_bytes()]
    assert differing == []


def test_page_is_whole(page):
    assert page.stack == []
    assert len([tag for tag, _ in page.tags if tag == "h1"]) == 1
    identifiers = page.links("id")
    assert len(set(identifiers)) == len(identifiers)


def test_links_and_images_are_there(written, page, results):
    targets = page.links("href") + page.links("src") + page.links("srcset")
    files = [t for t in targets if not t.startswith("#")]
    records_linked = {(written.parent / t).resolve() for t in files if t.endswith("record.json")}
    assert records_linked == {path.resolve() for path in results.rglob("record.json")}
    assert len(records_linked) > 20
    assert [t for t in files if not (written.parent / t).is_file()] == []
    anchors = {t[1:] for t in targets if t.startswith("#")}
    assert anchors <= set(page.links("id"))


def test_nothing_comes_from_a_network(written):
    for path in written.parent.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert "<script" not in text
            # Names of XML vocabularies are not fetched.
            fetched = re.findall(r"(?:src|href|url)\W{1,3}(https?://[^\"' )]+)", text)
            assert [u for u in fetched if not u.startswith("http://www.w3.org/")] == []


def test_every_image_has_words_and_both_appearances(page):
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert images and all(len(i["alt"]) > 30 and i["width"] and i["height"] for i in images)
    dark = [s for s in page.links("srcset") if "-dark" in s]
    assert len(dark) == 2 * len(images)


def test_claims_environment_labels_and_limitations_are_told(page, experiments):
    text = " ".join(" ".join(page.texts).split())
    assert "dev.sluice.series.sha256" in text and "Synthetic CPU" in text
    for chosen in experiments.values():
        if "smoke" not in chosen.document["profiles"]:
            continue
        for limitation in chosen.document["limitations"]:
            assert limitation in text
        for row in claim_rows(Study(chosen, "smoke", ())):
            assert row.statement[1:] in text
    assert "means that nothing was shown" in text
    assert "10.1109/SRDSW49218.2019.00009" in text
    assert "make evaluate EXPERIMENT=postgres-checkpoint PROFILE=smoke" in text


def test_failures_are_shown_and_escaped(written, page):
    assert "no <space> left" in " ".join(page.texts)
    assert "no &lt;space&gt; left" in written.read_text()
    assert "of an earlier cell" in " ".join(page.texts)


def test_figures_hold_no_date_and_keep_letters_as_paths(written):
    for path in (written.parent / "figures").glob("*.svg"):
        text = path.read_text()
        assert "<dc:date>" not in text and "<text" not in text
        assert not re.search(r"[ \t]$", text, re.M)


def test_no_records_give_a_page_that_says_so(tmp_path, capsys, experiments_folder):
    (tmp_path / "results").mkdir()
    arguments = ["--results", str(tmp_path / "results"), "--experiments", str(experiments_folder)]
    assert cli.main(["report", *arguments, "--output", str(tmp_path / "page")]) == 0
    assert "There are no records yet" in Path(capsys.readouterr().out.strip()).read_text()


def test_a_record_that_is_wrong_stops_the_report(results, tmp_path, capsys, experiments_folder):
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    path = next(records.find(copy))
    path.write_text(path.read_text().replace('"complete"', '"fine"'))
    code = cli.main(["report", "--results", str(copy), "--experiments", str(experiments_folder)])
    assert code == 2 and "does not follow" in capsys.readouterr().err


def test_check_finds_a_report_that_is_out_of_date(
    tmp_path, smoke_results, capsys, experiments_folder
):
    results = tmp_path / "results"
    folder = "postgres-checkpoint/smoke"
    shutil.copytree(smoke_results / folder, results / folder)
    check = [
        "report",
        "--check",
        "--results",
        str(results),
        "--experiments",
        str(experiments_folder),
    ]
    assert cli.main(check) == 1
    report.write(results, experiments_folder, results / "report")
    assert cli.main(check) == 0
    shutil.rmtree(results / folder / "wal1024_ct0.5_a_t10_throttle/04")
    assert cli.main(check) == 1
    assert "index.html is not what the records give" in capsys.readouterr().err
    assert cli.main(["report", "--check", "--results", str(tmp_path), *check[-2:]]) == 0


def test_old_figures_go_away(results, tmp_path, experiments_folder):
    output = tmp_path / "report"
    report.write(tmp_path / "none", experiments_folder, output)
    stale = output / "figures" / "stale.svg"
    stale.write_text("<svg/>")
    report.write(tmp_path / "none", experiments_folder, output)
    assert not stale.exists()


def test_records_without_those_of_the_baseline_give_a_page(
    tmp_path, experiments_folder, experiments
):
    plan = make_plan(experiments["hbase-compaction"], "small-others", [], tmp_path)
    for arm in ("stock", "slo"):
        wanted = {"arm": arm, "workload": "C"}
        run = next(run for run in plan["runs"] if wanted.items() <= run["factors"].items())
        assemble.record_run(plan, run, write_raw(run, tmp_path / arm), tmp_path / "results")
    assert report.write(tmp_path / "results", experiments_folder, tmp_path / "report").exists()


def test_cells_that_the_tuning_left_out_are_named(tmp_path, smoke_results, experiments_folder):
    results = tmp_path / "results"
    folder = results / "postgres-burst/smoke"
    shutil.copytree(smoke_results / "postgres-burst/smoke", folder)
    choice = {"per": {"device": "throttle"}, "cell": "a", "settings": {"wal_init_zero": "off"},
              "ranking": [{"cell": "a", "value": 0.01}],
              "left_out": [{"cell": "ct0.9_fa0_iz1", "because": "run 1 failed"}]}  # fmt: skip
    frozen = {"metric": "latency_p99_seconds", "choices": [choice]}
    (folder / "frozen.json").write_text(json.dumps(frozen))
    page = report.write(results, experiments_folder, results / "report").read_text()
    assert "Left out of the tuning for throttle: ct0.9_fa0_iz1 (run 1 failed)." in page


def test_words_of_a_figure_have_the_worst_of_all_runs(smoke_results, experiments):
    members = records.load_all(smoke_results)
    study = next(s for s in studies(members, experiments) if s.experiment.name == "postgres-burst")
    cells = list(study.measured)
    turned = [dataclasses.replace(cell, complete=cell.complete[::-1]) for cell in cells]
    _, words = prepare_time(study, {"lines": ["arm"]}, cells)
    for cell in cells:
        worst = max(over_time(record, cell.latency)[1].max() for record in cell.complete)
        assert f"{cell.factors['arm']}: worst bin {worst * 1000:.3g} ms" in words
    assert prepare_time(study, {"lines": ["arm"]}, turned)[1] == words


def test_texts_of_figures_stand_out_from_their_ground():
    assert contrast(LIGHT.text, "#ffffff") > 7 and contrast(DARK.text, "#0d1117") > 7
    for theme, ground in ((LIGHT, "#ffffff"), (DARK, "#0d1117")):
        assert min(contrast(colour, ground) for colour in theme.series) > 3


def contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2.1."""
    high, low = sorted(map(luminance, (first, second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_citation_is_one_line(experiments):
    published = experiments["postgres-burst"].published("drss19-p99")
    assert report.citation(published).startswith("Ricardo Macedo, Alberto Faria")
