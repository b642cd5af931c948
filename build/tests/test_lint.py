import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HOOKED_GREETING, MESSAGE, Project
from sluice_dist.lint_rules import RULES
from sluice_dist.patch_file import PatchFile


def patch_of(project: Project) -> Path:
    (patch,) = project.release().patch_files
    return patch


def edit(old: str, new: str) -> Callable[[Project], None]:
    def apply(project: Project) -> None:
        patch = patch_of(project)
        text = patch.read_text()
        assert old in text
        patch.write_text(text.replace(old, new))

    return apply


def incomplete_pin(project: Project) -> None:
    pin = project.release().folder / "upstream.toml"
    pin.write_text(pin.read_text().replace("licence", "license"))


def stray_file(project: Project) -> None:
    (project.release().folder / "notes.txt").write_text("to do\n")


def large(project: Project) -> None:
    lines = "".join(f"int number_{number};\n" for number in range(121))
    project.add_patch(greeting=HOOKED_GREETING + lines)


def trailing_space(project: Project) -> None:
    project.add_patch(greeting=HOOKED_GREETING + "int number; \n")


# One example for each rule, and what its message has to say.
EXAMPLES: dict[str, tuple[Callable[[Project], None], str]] = {
    "upstream-complete": (incomplete_pin, "'licence' is missing"),
    "unlisted-file": (stray_file, "delete it"),
    "title": (edit("[PATCH] toy: add", "[PATCH] Add"), "write 'toy: what it adds'"),
    "justification": (
        edit("Why a patch:", "Because"),
        "starts with 'Why a patch:'",
    ),
    "inertness": (edit("Inert by default:", "Note:"), "starts with 'Inert by default:'"),
    "dep3-fields": (edit("Removal-Test: ", "Gone-When: "), "the fields Removal-Test"),
    "series-size": (large, "changes 125 lines, 120 are allowed"),
    "trailing-whitespace": (trailing_space, "'int number; ' ends with white space"),
    "applies-exactly": (edit("@@ -1,4 +1,8 @@", "@@ -2,4 +2,8 @@"), "applies only at line 1"),
    "round-trip": (edit("\n+++ b/src/", "\nindex 1..2\n+++ b/src/"), "write it differently"),
}


def told(project: Project, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    capsys.readouterr()
    status = project.run("lint", "-o", "json")
    findings = json.loads(capsys.readouterr().out)
    assert status == (1 if findings else 0)
    return findings


def test_a_good_series_has_no_findings(series: Project, capsys) -> None:
    assert told(series, capsys) == []


def test_each_rule_has_an_example() -> None:
    assert set(EXAMPLES) == {*RULES, "applies-exactly", "round-trip"}


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_finds_its_example(series: Project, capsys, rule: str) -> None:
    spoil, message = EXAMPLES[rule]
    spoil(series)
    found = [finding for finding in told(series, capsys) if finding["rule"] == rule]
    assert found, f"{rule} found nothing"
    assert message in found[0]["message"]
    assert Path(found[0]["file"]).exists()


def test_text_output_names_file_rule_and_mend(series: Project, capsys) -> None:
    stray_file(series)
    capsys.readouterr()
    assert series.run("lint", "toy") == 1
    assert "patches/toy/1.0/notes.txt: unlisted-file: " in capsys.readouterr().out


def test_a_patch_that_does_not_apply_is_found(series: Project, capsys) -> None:
    edit(" const char *greeting", " const char *greetings")(series)
    (finding,) = told(series, capsys)
    assert finding["rule"] == "applies-exactly"
    assert "does not apply" in finding["message"]


def test_numbers_have_no_gap(series: Project, capsys) -> None:
    patch = patch_of(series)
    patch.rename(patch.with_name(patch.name.replace("0001", "0002")))
    rules = {finding["rule"] for finding in told(series, capsys)}
    assert rules == {"unlisted-file", "round-trip"}


def test_a_lower_bound_of_the_pin_holds(series: Project, capsys) -> None:
    pin = series.release().folder / "upstream.toml"
    pin.write_text("maximum_changed_lines = 3\n" + pin.read_text())
    (finding,) = told(series, capsys)
    assert "changes 4 lines, 3 are allowed" in finding["message"]


def test_a_short_justification_is_none(series: Project, capsys) -> None:
    short = "Why a patch: needed.\n"
    text = patch_of(series).read_text()
    start, end = text.index("Why a patch:"), text.index("\nInert")
    patch_of(series).write_text(text[:start] + short + text[end:])
    assert "too short" in next(
        finding["message"] for finding in told(series, capsys) if finding["rule"] == "justification"
    )


def test_a_date_is_a_date(series: Project, capsys) -> None:
    edit("Last-Update: 2026-11-20", "Last-Update: yesterday")(series)
    assert any("2026-01-31" in finding["message"] for finding in told(series, capsys))


def test_fields_have_to_stand_at_the_end(series: Project, capsys) -> None:
    edit("diff --git", "One word more.\n\ndiff --git")(series)
    assert "dep3-fields" in {finding["rule"] for finding in told(series, capsys)}


def test_a_patch_is_read_as_git_wrote_it(project: Project) -> None:
    longer = "greeting and this title is so long that its header is folded"
    message = MESSAGE.replace("the constant,", "the Größe,").replace("greeting", longer, 1)
    project.add_patch(message=message, greeting=HOOKED_GREETING)
    patch = PatchFile(patch_of(project))
    assert patch.title.endswith(longer)
    assert patch.author.name == "Ada Dev"
    assert "Größe" in patch.message
    assert set(patch.fields) >= {"Origin", "Removal-Test"}
    assert sorted(line[0] for line in patch.changed_lines) == ["+", "+", "+", "+"]
