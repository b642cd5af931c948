"""A Java program beside these that serves requests, a line each: a client that is there already.

A command of the distribution starts a Java machine of its own, which takes the processor from what
is measured.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from one_node import OneNode

# What HBase's client reaches for by reflection, as its own launcher opens it.
OPENED = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "nio")]
OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC", "-Dsluice.log.level=ERROR"]


class JavaClient:
    """The process of a program; ended with the context at the latest."""

    def __init__(self, node: OneNode, program: str, *arguments: object):
        path = node.hbase("classpath").strip()
        source = Path(__file__).with_name(program)
        words = ["java", *OPENED, *OPTIONS, "-cp", path, str(source), *map(str, arguments)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> JavaClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def ask(self, *request: object) -> str:
        """The answer to a request; RuntimeError when the program has ended instead."""
        self._process.stdin.write(f"{' '.join(map(str, request))}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the client has ended; its message is above")
        return answer.strip()
