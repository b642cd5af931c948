"""What a rolling restart of HDFS has to know of its daemons, from their beans."""

from __future__ import annotations

import json

from ansible_collections.sluice.stores.plugins.module_utils.daemon_pages import NoAnswer, bean

LAST_WRITTEN = "LastWrittenTxId"
INFORMATION = "Hadoop:service=NameNode,name=NameNodeInfo"
TOLD_BY_THE_ACTIVE_ONE = (
    "Safemode",
    "LiveNodes",
    "NumberOfMissingBlocks",
    "JournalTransactionInfo",
)


def namenode_states(pages: list[str]) -> dict[str, str]:
    """active, standby, starting or down of each NameNode, by its page."""
    return {page: _state(page) for page in pages}


def _state(page: str) -> str:
    try:
        state = bean(page, "Hadoop:service=NameNode,name=NameNodeStatus", "State")["State"]
        if state == "standby" and bean(page, INFORMATION, "Safemode")["Safemode"]:
            # It could take over, and would then keep clients waiting until it knows its blocks.
            return "starting"
    except NoAnswer:
        return "down"
    return state


def active_figures(page: str) -> dict:
    """The figures of the active NameNode."""
    information = bean(page, INFORMATION, *TOLD_BY_THE_ACTIVE_ONE)
    # Not FSNamesystem, which has the same figures as they were up to ten seconds ago.
    system = bean(page, "Hadoop:service=NameNode,name=FSNamesystemState", "UnderReplicatedBlocks")
    log = json.loads(information["JournalTransactionInfo"])
    return {
        "safe_mode": bool(information["Safemode"]),
        "live": sorted(json.loads(information["LiveNodes"])),
        "missing_blocks": information["NumberOfMissingBlocks"],
        "low_redundancy_blocks": system["UnderReplicatedBlocks"],
        "transaction": int(log["LastAppliedOrWrittenTxId"]),
    }


def journal_transactions(pages: list[str], nameservice: str) -> dict[str, int]:
    """The last transaction of each JournalNode, by its page; -1 where it has written none."""
    return {page: _written(page, nameservice) for page in pages}


def _written(page: str, nameservice: str) -> int:
    try:
        journal = bean(page, f"Hadoop:service=JournalNode,name=Journal-{nameservice}", LAST_WRITTEN)
    except NoAnswer:
        return -1
    return journal[LAST_WRITTEN]


def registered(page: str) -> bool:
    """Whether a DataNode serves all its NameNodes."""
    name = "Hadoop:service=DataNode,name=DataNodeInfo"
    actors = json.loads(bean(page, name, "BPServiceActorInfo")["BPServiceActorInfo"])
    return bool(actors) and all(actor["ActorState"] == "RUNNING" for actor in actors)
