"""Run the command line as `python -m sluice_dist`."""

from sluice_dist.cli import main

raise SystemExit(main())
