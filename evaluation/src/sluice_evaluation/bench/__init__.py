"""What the programs in plugins/STORE/bench share: their command line, waiting, turns, ratios."""
