"""Arithmetic of the processor time of compactions."""

from __future__ import annotations

import pytest
from compaction_processor_time import PLUGIN, STOCK, figures_of, layout


def test_each_compaction_has_a_figure_and_the_last_ones_a_ratio():
    rounds = {
        STOCK: [[6.0, 2.0], [8.0, 2.2], [7.0, 2.1], [7.0, 2.1]],
        PLUGIN: [[9.0, 2.0], [9.0, 2.2], [9.0, 2.1], [9.0, 2.1]],
    }
    figures = list(figures_of(rounds))
    assert [figure.value for figure in figures] == pytest.approx([7.0, 2.1, 9.0, 2.1, 1.0])
    assert [figure.unit for figure in figures] == ["s"] * 4 + ["1"]
    assert figures[1].values == [2.0, 2.2, 2.1, 2.1]


def test_stock_has_its_rate_by_its_own_settings_and_the_plugin_by_order():
    stock, plugin = layout(STOCK, ""), layout(PLUGIN, "")
    assert (stock.variant, plugin.variant) == ("stock", "patched")
    assert not stock.plugin and plugin.plugin
    assert any("throughput" in name for name in stock.site)
    assert not any("throughput" in name for name in plugin.site)
