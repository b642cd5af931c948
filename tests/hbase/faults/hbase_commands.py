"""Commands of bin/hbase in a process that is there already.

On a machine that does much else besides, the start of a Java takes longer than most commands do.
"""

from __future__ import annotations

import base64
import json
import select
import subprocess
from pathlib import Path
from typing import Any

from cluster_protocols import AnyCluster

PROGRAM = Path(__file__).with_name("HBaseCommands.java")
# What HBase's client reaches for by reflection, as its own launcher opens it.
OPENED = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "nio")]
OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dsluice.log.level=WARN"]
# How long one call to HBase may take: what is given up on goes on. The whole answer takes no more
# than some of them.
CALL_SECONDS = 600
ANSWER_SECONDS = 2 * CALL_SECONDS


class CommandError(Exception):
    """A command has ended with another code than 0; the text is what it said."""


class HBaseCommands:
    """The process; started when it is first needed, and ended with its context."""

    def __init__(self, node: AnyCluster):
        self._node = node
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> HBaseCommands:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._process:
            return
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def run(self, *words: str) -> str:
        """What a command prints; CommandError when it fails."""
        process = self._started()
        line = "\t".join(("--timeout", str(CALL_SECONDS), *words))
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        if not select.select([process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise TimeoutError(f"no answer within {ANSWER_SECONDS} s: {' '.join(words)}")
        code, out, error = process.stdout.readline().decode().removesuffix("\n").split(" ")
        if code != "0":
            raise CommandError(f"{' '.join(words)}: {base64.b64decode(error).decode()}")
        return base64.b64decode(out).decode()

    def json(self, *words: str) -> Any:
        """The JSON that a command prints."""
        return json.loads(self.run("-o", "json", *words))

    def _started(self) -> subprocess.Popen:
        if not self._process:
            path = self._node.hbase("classpath").strip()
            options = [*OPENED, *OPTIONS, *self._node.client_java_options]
            words = ["java", *options, "-cp", path, str(PROGRAM)]
            log = (self._node.folder / "log/commands.log").open("w")
            with log:
                self._process = subprocess.Popen(
                    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
                )
        return self._process
