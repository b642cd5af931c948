"""What the page does: load, follow, lead to decisions, say what is wrong."""

import json
from urllib.parse import urlsplit

import served
from readability import NOTE_JUMPS

RATE = "[...document.querySelectorAll('.tile')].find(t => /rate/.test(t.textContent)).textContent"
DEBT = "document.querySelector('.debt-text').textContent"
LINE = "document.querySelector('path.line.first').getAttribute('d')"


def test_loads_without_complaint_from_one_host_alone(browser, cluster):
    browser.visit(cluster.url)
    assert browser.text("#cluster-name") == "reference"
    nodes = browser.evaluate("[...document.querySelectorAll('.node h3')].map(e => e.textContent)")
    assert nodes == ["db-1", "db-2", "hb-1", "kv-1"]
    assert browser.evaluate("document.querySelectorAll('.lane').length") == 9
    assert browser.complaints == []
    assert {urlsplit(url).netloc for url in browser.requests if url != "about:blank"} == {
        cluster.address
    }


def test_follows_without_a_reload(browser, cluster):
    browser.visit(cluster.url)
    browser.evaluate("window.sameDocument = true")
    browser.wait_for(LINE)
    before = {shown: browser.evaluate(shown) for shown in (RATE, DEBT, LINE)}
    for _ in range(60):
        cluster.tell("step 1")
    for shown, value in before.items():
        browser.wait_for(f"{shown} !== {json.dumps(value)}")
    assert browser.evaluate("window.sameDocument") is True
    assert browser.complaints == []


def test_nothing_jumps_while_it_follows(browser, cluster):
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE_JUMPS)
    try:
        browser.visit(cluster.url)
        browser.wait_for(LINE)
        browser.evaluate("window.jumps = []")
        before = browser.evaluate(DEBT)
        for _ in range(30):
            cluster.tell("step 1")
        browser.wait_for(f"{DEBT} !== {json.dumps(before)}")
        assert browser.evaluate("window.jumps") == []
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_shows_service_levels_with_their_actions_of_the_last_hour(browser, cluster):
    browser.visit(cluster.url)
    assert browser.evaluate("document.querySelector('#levels-panel').hidden") is True
    cluster.tell("levels on")
    cluster.tell("step 1")
    browser.wait_for("document.querySelectorAll('.level').length === 2")
    first = "document.querySelector('.level')"
    assert browser.evaluate(f"{first}.querySelector('.level-state').textContent") == (
        "wants-node, asks for add-node"
    )
    assert browser.evaluate(f"{first}.querySelector('.level-figures').textContent") == (
        "mean of reads 41.7 ms, target 30.0 ms; 812 of 1000 operations/s, 86 % hits, "
        "400 MB of cache on each of 3 nodes"
    )
    assert browser.evaluate(f"{first}.querySelectorAll('.level-mark').length") == 2
    assert browser.evaluate(f"{first}.querySelectorAll('.level-mark.asked').length") == 1
    assert browser.evaluate(f"{first}.querySelector('.level-reason').textContent").endswith("<b>")
    cluster.tell("levels off")
    cluster.tell("step 1")
    browser.wait_for("document.querySelector('#levels-panel').hidden")
    assert browser.complaints == []


def test_a_mark_leads_to_its_decision(browser, cluster):
    browser.visit(cluster.url)
    mark = "[...document.querySelectorAll('.mark.change')].at(-1)"
    browser.wait_for(mark)
    assert "change, rate" in browser.evaluate(f"{mark}.getAttribute('aria-label')")
    browser.evaluate(f"{mark}.click()")
    browser.wait_for("document.querySelector('#detail .facts')")
    detail = browser.evaluate("document.querySelector('#detail').innerText")
    for part in ("change", "p99", "latency", "yes, to the agent", "debt_limit_bytes", "1.10 GB"):
        assert part in detail
    assert browser.evaluate(f"{mark}.getAttribute('aria-pressed')") == "true"
    assert browser.evaluate("document.querySelectorAll('.guide.chosen').length") == 3


def test_marks_are_reached_by_keyboard(browser, cluster):
    browser.visit(cluster.url)
    browser.wait_for("document.querySelectorAll('.mark').length > 5")
    assert browser.evaluate("document.querySelectorAll('.mark[tabindex=\"0\"]').length") == 1
    browser.evaluate("document.querySelector('.mark[tabindex=\"0\"]').focus()")
    browser.press("Home")
    first = "document.querySelector('.mark') === document.activeElement"
    assert browser.evaluate(first)
    browser.press("ArrowRight")
    assert not browser.evaluate(first)
    browser.press("Enter")
    browser.wait_for("document.querySelector('#detail .full-reason')")
    browser.evaluate("document.querySelector('.charts').focus()")
    before = browser.evaluate("document.activeElement.getAttribute('aria-valuetext')")
    browser.press("Home")
    after = browser.evaluate("document.activeElement.getAttribute('aria-valuetext')")
    assert before != after and "write" in after


def test_a_row_leads_to_its_decision_and_its_task(browser, cluster):
    browser.visit(cluster.url)
    row = "[...document.querySelectorAll('.row')].find(r => r.textContent.includes('kv-1'))"
    browser.wait_for(row)
    browser.evaluate(f"{row}.click()")
    browser.wait_for("document.querySelector('#detail').innerText.includes('windows')")
    browser.evaluate("document.querySelector('#detail .link').click()")
    browser.wait_for(
        "document.querySelector('#timeline-title').textContent === 'compaction events'"
    )
    browser.wait_for("document.querySelector('.mark.stop')")
    assert "scope=events" in browser.evaluate("location.hash")


def test_repeated_decisions_are_faint_and_together(browser, cluster):
    browser.visit(cluster.url)
    browser.evaluate("document.querySelector('#task-only').click()")
    browser.wait_for(
        "[...document.querySelectorAll('.row')].some(r => /keep \\S\\d+/.test(r.textContent))"
    )
    browser.evaluate("document.querySelector('.mark.keep').click()")
    browser.wait_for("document.querySelector('#detail').innerText.includes('Repeated')")
    browser.evaluate("document.querySelector('#task-only').click()")


def test_lost_and_recovered(browser, cluster, program):
    browser.visit(cluster.url)
    browser.evaluate("window.sameDocument = true")
    cluster.kill()
    browser.wait_for("document.body.dataset.connection === 'lost'")
    assert "Connection lost" in browser.text("#status-text")
    assert "ago" in browser.text("#status-text")
    assert browser.evaluate("document.querySelectorAll('.node').length") == 4
    again = served.Served(program, past=60, listen=cluster.address)
    try:
        browser.wait_for("document.body.dataset.connection !== 'lost'")
        # The new process knows of one minute alone, and nothing of the old one's is left.
        browser.wait_for(
            "document.querySelector('#timeline .note').textContent.includes('Recorded')"
        )
        assert browser.evaluate("window.sameDocument") is True
    finally:
        again.kill()


def test_agent_not_reachable(browser, cluster):
    cluster.tell("unreachable db-2")
    cluster.tell("step 20")
    browser.visit(cluster.url)
    assert "1 not reachable" in browser.text("#summary")
    problem = browser.text(".node.unreachable .problem")
    assert problem.startswith("Agent not reachable, last answer 2") and "refused" in problem
    assert browser.evaluate("document.querySelector('.row .verdict').textContent") == "stop"
    browser.evaluate("""(show => { show.value = 'problems';
      show.dispatchEvent(new Event('change')); })(document.querySelector('#show'))""")
    browser.wait_for("document.querySelectorAll('.node').length === 1")
    cluster.tell("reachable db-2")
    cluster.tell("step 2")
    browser.wait_for("document.querySelectorAll('.node').length === 0")
    assert "No node is like that" in browser.text("#nodes-empty")


def test_standby_and_dry_run(browser, cluster):
    browser.visit(cluster.url)
    assert browser.evaluate("document.querySelector('#notice').hidden")
    cluster.tell("standby ctl-2")
    cluster.tell("step 1")
    browser.wait_for(
        "document.querySelector('#notice').textContent.includes('ctl-2 is the active')"
    )
    cluster.tell("standby")
    cluster.tell("step 1")
    browser.wait_for("document.querySelector('#notice').textContent.includes('leases run out')")
    cluster.tell("active")
    cluster.tell("dry-run on")
    cluster.tell("step 30")
    browser.wait_for("document.querySelector('#notice').textContent.startsWith('Dry run')")
    badges = browser.evaluate(
        "[...document.querySelectorAll('.badge')].filter(b => !b.hidden).map(b => b.textContent)"
    )
    assert badges == ["Dry run"]


def test_silent_controller(browser, cluster):
    browser.visit(cluster.url)
    browser.wait_for("document.body.dataset.connection === 'stale'")
    assert "Nothing new from the controller" in browser.text("#status-text")


def test_a_controller_with_long_periods_is_live_and_has_lines(browser, program):
    cluster = served.Served(program, period=10)
    try:
        browser.visit(cluster.url)
        browser.wait_for(LINE)
        # Points that are joined, and not one by one.
        assert browser.evaluate(f"({LINE}.match(/L/g) ?? []).length") > 20
        # However long the browser took for that, there is something new for another 25 s.
        cluster.tell("step 1")
        browser.evaluate("new Promise((done) => setTimeout(done, 7000))")
        assert browser.evaluate("document.body.dataset.connection") == "live"
        browser.wait_for("document.body.dataset.connection === 'stale'")
    finally:
        cluster.kill()


def test_no_nodes(browser, cluster):
    cluster.tell("nodes 0")
    cluster.tell("step 1")
    browser.visit(cluster.url)
    assert browser.text("#nodes-empty").startswith("No nodes.")
    assert browser.complaints == []


def test_ten_thousand_nodes(browser, cluster):
    cluster.tell("nodes 10000")
    cluster.tell("step 1")
    browser.visit(cluster.url)
    assert browser.evaluate("document.querySelectorAll('.node').length") == 20
    assert browser.text("#range") == "1 to 20 of 10,000"
    browser.evaluate("document.querySelector('#next').click()")
    browser.wait_for("document.querySelector('#range').textContent === '21 to 40 of 10,000'")
    browser.evaluate("""(filter => { filter.value = 'KV-';
      filter.dispatchEvent(new Event('input')); })(document.querySelector('#filter'))""")
    browser.wait_for("document.querySelectorAll('.node').length === 1")
    assert browser.text(".node h3") == "kv-1"


def test_names_are_text(browser, cluster):
    hostile = "<img src=x onerror=window.stolen=1>\"'&"
    cluster.tell(f"instance {hostile}")
    cluster.tell("step 60")
    browser.visit(cluster.url)
    assert browser.text(".store h4") == f"postgres/{hostile}"
    browser.evaluate("document.querySelector('.lane').click()")
    browser.wait_for("document.querySelector('#timeline-target').textContent.includes('onerror')")
    browser.evaluate("[...document.querySelectorAll('.row')].at(0).click()")
    assert browser.evaluate("window.stolen") is None
    assert browser.evaluate("document.querySelectorAll('main img').length") == 0
    assert browser.complaints == []


MODEL = """(async () => {
  const { Model } = await import("/static/model.js");
  const model = new Model();
  const cluster = (milliseconds) => ({ instance: "i", milliseconds, nodes: [], names: [] });
  const target = { node: "n", store: "s", instance: "i", kind: "KIND_CHECKPOINT", scope: "" };
  const decisions = (...ordinals) =>
    ({ left_out: 0, decisions: ordinals.map((ordinal) => ({ ordinal })) });
  %s
})()"""


def test_the_line_of_a_task_that_is_gone_leaves_the_timeline(browser, cluster):
    browser.visit(cluster.url)
    left = browser.evaluate(
        MODEL
        % """
  model.takeCluster(cluster(1000));
  model.open(target);
  const numbers = [[1000], [1], [1], [1], [1], [1]];
  const names = Object.keys(model.history.columns);
  const points = Object.fromEntries(names.map((name, place) => [name, numbers[place]]));
  model.takeHistory({ target, points, repeats: [], decisions: [], began_milliseconds: 0 });
  const before = model.history.columns.milliseconds.length;
  model.takeCluster(cluster(20 * 60 * 1000));
  return [before, ...names.map((name) => model.history.columns[name].length)];"""
    )
    assert left == [1, 0, 0, 0, 0, 0, 0]


def test_decisions_that_come_late_are_in_their_place(browser, cluster):
    browser.visit(cluster.url)
    ordinals = browser.evaluate(
        MODEL
        % """
  model.takeDecisions(decisions(8, 9), true);
  model.takeDecisions(decisions(5, 6, 7, 8, 9, 10), false);
  return [...model.decisions.keys()];"""
    )
    assert ordinals == [5, 6, 7, 8, 9, 10]


def test_the_chosen_decision_names_its_time_zone(browser, cluster):
    browser.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    try:
        browser.visit(cluster.url)
        browser.wait_for("document.querySelector('#decisions .row')")
        browser.evaluate("document.querySelector('#decisions .row').click()")
        browser.wait_for("document.querySelector('#detail time')")
        assert browser.text("#detail time").endswith("GMT+5:30")
    finally:
        browser.call("Emulation.setTimezoneOverride", timezoneId="")


def test_an_address_opens_its_task(browser, cluster):
    task = "#node=db-1&store=postgres&instance=main&kind=KIND_CHECKPOINT&scope="
    browser.visit(cluster.url + task)
    browser.wait_for(
        "document.querySelector('#timeline-target').textContent === 'db-1/postgres/main'"
    )
    browser.wait_for(LINE)
    browser.visit(cluster.url + task.replace("KIND_CHECKPOINT", "KIND_OTHER"))
    assert browser.evaluate("document.querySelectorAll('.node').length") == 4


LANES = """Object.fromEntries([...[...document.querySelectorAll('.node')]
  .find(node => node.querySelector('h3').textContent === 'hb-1').querySelectorAll('.lane')]
  .map(lane => [lane.querySelector('strong').textContent,
    ['.state', '.rate', '.leases'].map(part => lane.querySelector(part).innerText.trim())]))"""


def test_kinds_and_scopes_of_one_store(browser, cluster):
    browser.visit(cluster.url)
    lanes = browser.evaluate(LANES)
    families = ["orders/cf", "shop:items/d"]
    compactions = ["compaction", *(f"compaction {family}" for family in families)]
    assert list(lanes) == ["cache orders/cf", *compactions, "flush orders"]
    # No task works on a cache: it is not idle.
    state, rate, lease = lanes["cache orders/cf"]
    assert (state, rate) == ("", "")
    assert "reserved 128 MB" in lease
    # A lease on all of the store stands over the tasks of every scope.
    state, rate, lease = lanes["compaction"]
    assert state == "1 running, 1 deferred"
    assert rate == lanes["compaction orders/cf"][1]
    assert "policy/quick-reads" in lease
    assert lanes["compaction shop:items/d"][0] == "deferred"
    cluster.tell("step 13")
    browser.wait_for(f"'flush orders/cf' in {LANES}")
    assert browser.evaluate(LANES)["flush orders/cf"][:2] == ["running", "16.0 MB/s"]
    browser.evaluate("""[...document.querySelectorAll('.lane strong')]
      .find(e => e.textContent === 'compaction orders/cf').closest('.lane').click()""")
    browser.wait_for(LINE)
    assert browser.evaluate("document.querySelector('path.ordered').getAttribute('d')")
    assert browser.complaints == []


def test_a_task_that_is_not_there_has_no_lines(browser, cluster):
    other = "kind=KIND_CHECKPOINT&scope="
    browser.visit(f"{cluster.url}#node=db-9&store=postgres&instance=main&{other}")
    assert browser.text("#timeline-target") == "db-9/postgres/main"
    assert not browser.evaluate(LINE)
    assert browser.evaluate("document.querySelectorAll('.mark').length") == 0
    assert browser.text("#timeline .note") == ""
