"""The server's end of one WebSocket."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterable

from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import AcceptConnection, CloseConnection, Event, Ping, RejectConnection, TextMessage
from wsproto.utilities import RemoteProtocolError

__all__ = ["NoWebSocket", "WebSocket"]


class NoWebSocket(Exception):
    """The request that should become a WebSocket is none. The message says what it lacks."""


class WebSocket:
    """Sends texts for as long as the client stays; belongs to one thread."""

    def __init__(self, connection: socket.socket, *, path: str, headers: Iterable[tuple[str, str]]) -> None:
        """Accept the client's handshake. Raises NoWebSocket where it made none."""
        self._connection = connection
        self._wire = WSConnection(ConnectionType.SERVER)
        try:
            raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
            self._wire.initiate_upgrade_connection(raw, path)
            refused = [event for event in self._wire.events() if isinstance(event, RejectConnection)]
        except RemoteProtocolError as wrong:
            raise NoWebSocket(str(wrong)) from wrong
        if refused:
            raise NoWebSocket("The handshake is refused.")
        self._put(AcceptConnection())
        self.open = True

    def send(self, text: str) -> None:
        """Send one text message. Raises OSError where the client went away without a word."""
        if self.open:
            self._put(TextMessage(data=text))

    def open_after(self, seconds: float) -> bool:
        """Wait, and answer the client's pings meanwhile; whether the socket is open still."""
        deadline = time.monotonic() + seconds
        while self.open and (left := deadline - time.monotonic()) > 0:
            if select.select([self._connection], [], [], left)[0]:
                self._read()
        return self.open

    def close(self) -> None:
        """Say goodbye, unless the client did so before, and give it a second to answer."""
        if self.open:
            self._put(CloseConnection(code=1000))
            self.open_after(1.0)

    def _read(self) -> None:
        data = self._connection.recv(65536)
        if not data:
            self.open = False
            return
        self._wire.receive_data(data)
        for event in self._wire.events():
            if isinstance(event, Ping):
                self._put(event.response())
            elif isinstance(event, CloseConnection):
                self.open = False
                if self._wire.state is not ConnectionState.CLOSED:  # else it answers our own goodbye
                    self._put(event.response())

    def _put(self, event: Event) -> None:
        self._connection.sendall(self._wire.send(event))
