"""A WebSocket of the misbehaving server: accepted, and then broken as told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import AcceptConnection, CloseConnection, Message, Ping, TextMessage

from tests.servers.answers import Answer, Wire

#: The head of a text frame of 100 bytes (RFC 6455, 5.2), and the beginning of its text.
HALF_A_FRAME = b"\x81\x64half of"


@dataclass(frozen=True)
class WebSocket(Answer):
    """Accepts the handshake, sends its messages, and stays, is reset in mid-frame, or closes with a code.

    With `asked` it says nothing, and does not end, before the page has sent something.
    """

    messages: tuple[str, ...] = ()
    then: Literal["stay", "cut"] | int = "stay"
    asked: bool = False

    async def give(self, wire: Wire) -> None:
        talk = _Talk(wire)
        await talk.accept()
        if self.asked:
            await talk.hear()
        for message in self.messages:
            await talk.say(message)
        if self.then == "cut":
            await wire.send(HALF_A_FRAME)
            wire.reset()
            return
        if isinstance(self.then, int):
            await talk.goodbye(self.then)
        while await talk.hear():
            pass


class _Talk:
    """The server's side of one connection."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._socket = WSConnection(ConnectionType.SERVER)
        headers = [(name.encode(), value.encode("latin-1")) for name, value in wire.request.headers.items()]
        self._socket.initiate_upgrade_connection(headers, wire.request.path)
        list(self._socket.events())  # the request itself

    async def accept(self) -> None:
        await self._wire.send(self._socket.send(AcceptConnection()))

    async def say(self, text: str) -> None:
        await self._wire.send(self._socket.send(TextMessage(data=text)))

    async def goodbye(self, code: int) -> None:
        await self._wire.send(self._socket.send(CloseConnection(code=code)))

    async def hear(self) -> bool:
        """Wait for a message; says whether one came before the end."""
        while data := await self._wire.receive():
            self._socket.receive_data(data)
            for event in self._socket.events():
                if isinstance(event, Message):
                    return True
                if isinstance(event, Ping):
                    await self._wire.send(self._socket.send(event.response()))
                if isinstance(event, CloseConnection):
                    if self._socket.state is not ConnectionState.CLOSED:
                        await self._wire.send(self._socket.send(event.response()))
                    return False
        return False
