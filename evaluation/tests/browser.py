"""A headless Chromium driven through its debugging pipe; needs no further package.

Chromium reads commands from file descriptor 3 and answers on 4, one JSON object per NUL byte.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
DEADLINE_SECONDS = 300.0


def chromium() -> str | None:
    """The browser's path, or None where there is none."""
    return shutil.which("chromium")


class Browser:
    """One page of a fresh Chromium."""

    def __enter__(self) -> "Browser":
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        # The shell moves the pipes to the two numbers that Chromium insists on.
        command = f'exec "$0" "$@" 3<&{their_in} 4>&{their_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, chromium(), *FLAGS, f"--user-data-dir={self._profile}"],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._buffer, self._number, self.requests = b"", 0, []
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"Chromium did not answer within {DEADLINE_SECONDS:.0f} s")
            received = os.read(self._in, 1 << 20)
            if not received:
                raise RuntimeError("Chromium ended")
            self._buffer += received
        message, self._buffer = self._buffer.split(b"\0", 1)
        parsed = json.loads(message)
        if parsed.get("method") == "Network.requestWillBeSent":
            self.requests.append(parsed["params"]["request"]["url"])
        return parsed

    def open(self, page: Path, width: int, height: int, scheme: str) -> None:
        """Open a page at a size, light or dark, and wait until its images are decoded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=media)
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.evaluate(
            """new Promise(done => {
                 const decode = () => Promise.allSettled([...document.images].map(i => i.decode()))
                   .then(() => done(true));
                 if (document.readyState === 'complete') decode();
                 else addEventListener('load', decode);
               })"""
        )

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, promises awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)  # fmt: skip
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
