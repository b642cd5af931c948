"""The network between two agents, which can be cut.

Every connection goes through this process, so that it needs no right on the machine's network, and
leaves nothing in it.
"""

import contextlib
import socket
import threading


class Relay:
    """Passes on what comes to its address; ends with its process."""

    def __init__(self, to: str) -> None:
        host, port = to.rsplit(":", 1)
        self._to = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._sockets: set[socket.socket] = set()
        self._start(self._accept)

    @staticmethod
    def _start(work: object, *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    @property
    def address(self) -> str:
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def cut(self) -> None:
        """Let nothing pass, and tell nobody: connections stay as they are."""
        self._is_whole.clear()

    def mend(self) -> None:
        """Let pass what has come meanwhile, as what is sent again, and all that comes."""
        self._is_whole.set()

    def break_connections(self) -> None:
        """End all connections; new ones can be made."""
        for each in list(self._sockets):
            _shut(each)

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            self._start(self._connect, near)

    def _connect(self, near: socket.socket) -> None:
        with near:
            self._is_whole.wait()
            with contextlib.suppress(OSError), socket.create_connection(self._to) as far:
                self._pass_on(near, far)

    def _pass_on(self, near: socket.socket, far: socket.socket) -> None:
        self._sockets |= {near, far}
        back = self._start(self._copy, far, near)
        self._copy(near, far)
        back.join()
        self._sockets -= {near, far}

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._is_whole.wait()
                target.sendall(data)
        # That one end is gone does not pass through a cut either.
        self._is_whole.wait()
        _shut(source)
        _shut(target)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
