"""What WebSockets and event streams say.

Source of the rules: "What a causal exchange says" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

from bughunt.verdict.causality import Causality, request_key
from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.record import Exchange, LoadRecord, Socket

__all__ = ["StreamRules", "unheard_since"]

#: Close codes (RFC 6455, 7.4.1, and the IANA registry) of a connection or a server that broke.
BROKEN_CODES = frozenset({1001, 1006, 1011, 1012, 1013, 1014, 1015})

#: Types of requests by which a page gets its data.
DATA_TYPES = frozenset({"fetch", "xhr", "eventsource"})

#: Seconds that a page must have waited on a socket before its silence says anything.
SILENCE = 0.1
#: Seconds after which a handshake that was not answered says something.
NEVER_OPENED = 1.0


def unheard_since(socket: Socket) -> float | None:
    """Since when nothing has come: the page's last frame on it, or its opening; None: something has."""
    since = socket.opened_at if socket.last_sent is None else socket.last_sent
    heard = socket.last_received is not None and socket.last_received >= since
    return None if heard else since


class StreamRules:
    """Answers, for one load, what its sockets and event streams say."""

    def __init__(self, load: LoadRecord, causality: Causality) -> None:
        self._load = load
        self._causality = causality
        self._cut = load.failure.at if load.failure else load.ended

    def socket_says(self, socket: Socket) -> CauseKind | None:
        """Why a load could not show what was asked, if this socket is why."""
        declared = self._causality.declares_url(socket.url)
        may_count = self._causality.is_open and not self._causality.ignored(socket.url)
        if socket.left or not (declared or may_count):
            return None
        if socket.closed is not None and socket.closed <= self._cut:
            broke = self._broke(socket, declared=declared) and not self._opened_again(socket)
            return CauseKind.SOCKET if broke else None
        if socket.answered is False and self._cut - socket.opened_at >= NEVER_OPENED:
            return CauseKind.SOCKET if self._load.failure is not None else None
        needed = declared or self._is_only_source(socket)
        return CauseKind.SILENT if needed and self._missed(unheard_since(socket)) else None

    def _broke(self, socket: Socket, *, declared: bool) -> bool:
        if socket.closed_by_page:
            return False
        if socket.failure is not None or socket.code is None or socket.code in BROKEN_CODES:
            return True  # without a code nobody knows that it ended well: a busy page hands over none
        return declared and self._load.failure is not None  # the server hung up before what was waited for

    def _opened_again(self, socket: Socket) -> bool:
        """The page opened it anew, and that one is well: not so one of a page that opens them ever again."""
        return any(
            other.opened_at >= (socket.closed or 0.0)
            and other.url == socket.url
            and (other.received or (other.answered and self._cut - other.opened_at >= SILENCE))
            for other in self._load.sockets
            if other.failure is None and (other.closed is None or other.closed > self._cut)
        )

    def _missed(self, since: float | None) -> bool:
        """The charter failed, and nothing had come since that instant."""
        return self._load.failure is not None and since is not None and self._cut - since >= SILENCE

    def _is_only_source(self, source: Socket | Exchange) -> bool:
        """The page got no data in another way."""
        asked = (x for x in self._load.exchanges if x is not source and x.resource_type in DATA_TYPES)
        heard = (s for s in self._load.sockets if s is not source and s.received)
        return not any(map(self._causality.counts, asked)) and not any(heard)

    def stream_says(self, x: Exchange) -> CauseKind | None:
        """What an event stream says that was answered, or that failed in the network."""
        if _is_page(x):
            return CauseKind.WRONG_CONTENT
        if x.failure == "net::ERR_ABORTED" or self._stream_opened_again(x):
            return None
        if x.failure is not None:
            return CauseKind.SOCKET
        declared = self._causality.declared(x)
        if x.finished and x.ended is not None and x.ended <= self._cut:
            return CauseKind.SOCKET if declared else None
        silent = x.status is not None and x.messages == 0
        needed = silent and (declared or self._is_only_source(x))
        return CauseKind.SILENT if needed and self._missed(x.started) else None

    def _stream_opened_again(self, x: Exchange) -> bool:
        known = request_key(x)
        return any(
            other.started > x.started and request_key(other) == known and other.failure is None
            for other in self._load.exchanges
            if other.status is not None and other.status < 400 and not other.finished
        )


def _is_page(x: Exchange) -> bool:
    """No browser takes it for a stream, and so it failed."""
    content_type = next((v for k, v in x.response_headers.items() if k.lower() == "content-type"), "")
    return content_type.lower().startswith("text/html")
