"""Shell, SQL and C++ blocks are found and classed, and an unclassed one is an error."""

from pathlib import Path

import pytest
from blocks import BlockError, blocks_of_page, command_lines

PAGE = Path("docs/page.md")


def blocks_of(info: str, body: str = "true\n"):
    return blocks_of_page(PAGE, f"# Page\n\n```{info}\n{body}```\n\ntext\n")


def test_place_and_class():
    (block,) = blocks_of("sh test=covered:lint,docs")
    assert (block.where, block.kind, block.names) == ("docs/page.md:3", "covered", ("lint", "docs"))


def test_reason_with_blanks():
    assert blocks_of('sh test=none reason="starts a server"')[0].kind == "none"


def test_sql_names_the_server_that_runs_it():
    (block,) = blocks_of("sql test=server:postgres")
    assert (block.kind, block.names) == ("server", ("postgres",))


def test_program_names_the_store_that_it_is_for():
    (block,) = blocks_of("cpp test=program:rocksdb", "int main() {}\n")
    assert (block.kind, block.names) == ("program", ("rocksdb",))
    assert block.commands == "int main() {}\n"


def test_block_in_a_list_loses_its_indent():
    (block,) = blocks_of_page(PAGE, "- item\n\n  ```sh test=quick\n  true\n    a\n  ```\n")
    assert block.commands == "true\n  a\n"


@pytest.mark.parametrize("info", ["", "text", "toml", "python"])
def test_other_blocks_are_left_alone(info):
    assert blocks_of(info) == []


@pytest.mark.parametrize(
    "info",
    [
        "sh",
        "bash test=quick",
        "sh test=sometimes",
        "sh test=none",
        "sh test=quick reason=none",
        "sh test=covered",
        "sh test=quick:lint",
        "sh test=quick speed=high",
        'sh test=none reason="open',
        "sh test=server:postgres",
        "sql",
        "sql test=quick",
        "sql test=server",
        "sql test=none",
        "cpp",
        "cpp test=quick",
        "cpp test=program",
    ],
)
def test_wrong_class(info):
    with pytest.raises(BlockError, match=r"^docs/page\.md:3: "):
        blocks_of(info)


def test_command_lines():
    (block,) = blocks_of("sh test=quick", "# first\nmake lint  # it\n\nmake \\\n  test\n")
    assert command_lines(block) == ["make lint", "make test"]
