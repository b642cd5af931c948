"""The tested blocks of all Markdown pages."""

import pytest
from blocks import Block, BlockError, blocks_of_page
from source_files import has_suffix, text_of


def _blocks_of_all_pages() -> tuple[list[Block], list[str]]:
    found, wrong = [], []
    for page in has_suffix(".md"):
        try:
            found += blocks_of_page(page, text_of(page) or "")
        except BlockError as error:
            wrong.append(str(error))
    return found, wrong


BLOCKS, WRONG = _blocks_of_all_pages()


def of_kind(*kinds: str) -> list:
    """Parameters of a test: the blocks that are tested in these ways."""
    return [pytest.param(block, id=block.where) for block in BLOCKS if block.kind in kinds]
