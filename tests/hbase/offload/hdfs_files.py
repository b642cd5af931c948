"""HDFS, looked at by a process that is there already: see HdfsFiles.java."""

from __future__ import annotations

import select
import subprocess
from pathlib import Path

from hbase_commands import OPENED, OPTIONS
from one_node import OneNode

PROGRAM = Path(__file__).with_name("HdfsFiles.java")
ANSWER_SECONDS = 600


class HdfsFiles:
    """The process; started at once, and ended with its context."""

    def __init__(self, node: OneNode):
        path = node.hbase("classpath").strip()
        words = ["java", *OPENED, *OPTIONS, "-cp", path, str(PROGRAM)]
        with (node.folder / "log/files.log").open("w") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )

    def __enter__(self) -> HdfsFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def list(self, glob: str) -> list[str]:
        """The paths that a pattern finds."""
        return self._ask("list", glob)

    def limit(self, folder: str, size_bytes: int) -> None:
        """Let the blocks in a folder have no more than that, all copies together."""
        self._ask("quota", folder, str(size_bytes))

    def _ask(self, *words: str) -> list[str]:
        self._process.stdin.write(("\t".join(words) + "\n").encode())
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise TimeoutError(f"no answer within {ANSWER_SECONDS} s: {' '.join(words)}")
        answer = self._process.stdout.readline().decode().removesuffix("\n").split("\t")
        if answer[0] != "done":
            raise OSError(f"{' '.join(words)}: {' '.join(answer)}")
        return answer[1:]
