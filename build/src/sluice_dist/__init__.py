"""The tool sluice-dist: patch series on pinned upstream sources, built and tested."""
