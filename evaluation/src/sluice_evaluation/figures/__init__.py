"""Figures in the style of the published ones, drawn from records, equal byte for byte each time."""

from sluice_evaluation.figures.drawing import Drawing, draw_all

__all__ = ["Drawing", "draw_all"]
