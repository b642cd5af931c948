"""What a rolling restart of HDFS has to know of its daemons, from their beans."""

from __future__ import annotations

import json

from ansible_collections.sluice.stores.plugins.module_utils.daemon_pages import NoAnswer, bean


def namenode_states(pages: list[str]) -> dict[str, str]:
    """active, standby or down of each NameNode, by its page."""
    return {page: _state(page) for page in pages}


def _state(page: str) -> str:
    try:
        return bean(page, "Hadoop:service=NameNode,name=NameNodeStatus")["State"]
    except NoAnswer:
        return "down"


def active_figures(page: str) -> dict:
    """The figures of the active NameNode."""
    information = bean(page, "Hadoop:service=NameNode,name=NameNodeInfo")
    # Not FSNamesystem, which has the same figures as they were up to ten seconds ago.
    system = bean(page, "Hadoop:service=NameNode,name=FSNamesystemState")
    log = json.loads(information["JournalTransactionInfo"])
    return {
        "safe_mode": bool(information["Safemode"]),
        "live": sorted(json.loads(information["LiveNodes"])),
        "missing_blocks": information["NumberOfMissingBlocks"],
        "low_redundancy_blocks": system["UnderReplicatedBlocks"],
        "transaction": int(log["LastAppliedOrWrittenTxId"]),
    }


def journal_transaction(pages: list[str], nameservice: str) -> int:
    """The last transaction that every JournalNode has written; -1 where one has written none."""
    return min((_written(page, nameservice) for page in pages), default=-1)


def _written(page: str, nameservice: str) -> int:
    try:
        return bean(page, f"Hadoop:service=JournalNode,name=Journal-{nameservice}")[
            "LastWrittenTxId"
        ]
    except NoAnswer:
        return -1


def registered(page: str) -> bool:
    """Whether a DataNode serves all its NameNodes."""
    information = bean(page, "Hadoop:service=DataNode,name=DataNodeInfo")
    actors = json.loads(information["BPServiceActorInfo"])
    return bool(actors) and all(actor["ActorState"] == "RUNNING" for actor in actors)
