"""Compactions of a node of Ignite: the info logs of its RocksDB databases, one after the other.

What else is in its logs, as its journal, is passed over. The stock library takes no options from
the environment, so that there are no statistics once a second, as of databases alone.
"""

from sluice_evaluation.store_logs.rocksdb import BACKGROUND, metrics, read

__all__ = ["BACKGROUND", "metrics", "read"]
