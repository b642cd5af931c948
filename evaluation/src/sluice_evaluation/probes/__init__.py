"""Programs that also run on the nodes themselves: one file each, standard library alone.

Copy the file to a node and run it with its Python 3.11; `sluice-evaluation` has the same as
subcommands.
"""
