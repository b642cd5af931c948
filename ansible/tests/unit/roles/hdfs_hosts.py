"""Three hosts of HDFS, and what its role notes of their files."""

from role_files import Host, task_of

THREE = ["hb1", "hb2", "hb3"]
JOURNAL = "/var/lib/sluice/hdfs/main/journal/sluice/current/VERSION"
NAME = "/var/lib/sluice/hdfs/main/name/current/VERSION"


def found(exists: bool, item: str = "") -> dict:
    return {"item": item, "stat": {"exists": exists}}


def hdfs(name: str, **known: object) -> Host:
    groups = {"hdfs_namenode": THREE[:2], "hdfs_journalnode": THREE, "hdfs_datanode": THREE}
    return Host("hdfs", name, groups=groups, ansible_play_hosts=THREE, **known)


def looked(host: Host, paths: list[str], notes: tuple[str, ...] = ()) -> dict:
    """What look.yml notes of a host with these files."""
    marks = host.value("_hdfs_data_marks")
    return host.facts(
        task_of("hdfs", "look.yml", "Note what was found"),
        _hdfs_name=found(NAME in paths),
        _hdfs_data={"results": [found(mark in paths, mark) for mark in marks]},
        _hdfs_notes={
            "results": [found(item in notes, item) for item in ("namenode", "journalnode")]
        },
        _hdfs_former={"skipped": True},
        _hdfs_units={"stdout_lines": []},
        _hdfs_enabled={"files": []},
    )
