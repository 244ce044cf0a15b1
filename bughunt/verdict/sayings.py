"""What an exchange says: the environment's fault, the product's, or nothing.

An exchange is judged as it stood when the charter failed (or returned): what came only afterwards could
not have been shown. Source of the rules: "What a causal exchange says" in docs/explanation/verdicts.md.
"""

from __future__ import annotations

from bughunt.verdict.blame import PRODUCT, Says
from bughunt.verdict.causality import Causality, RequestKey, ResourceKey, request_key, resource_key
from bughunt.verdict.contents import ContentRules, is_sign_in_url
from bughunt.verdict.departures import Departures
from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.noise import is_noise, is_socket_noise
from bughunt.verdict.probing import Probes
from bughunt.verdict.record import (
    PAGE_LOADING,
    SAFE_METHODS,
    UNKNOWN_FAILURE,
    Content,
    Declaration,
    Exchange,
    FaultEffect,
    LoadRecord,
    Socket,
    Step,
)
from bughunt.verdict.sockets import StreamRules
from fault_routes.patterns import matches

__all__ = ["Testimony"]


_ENVIRONMENT = frozenset(CauseKind)

#: Seconds after a request before its silence, or its body's, says anything.
PATIENCE = 1.0
#: Seconds within which a page that drops its own request did not wait for an answer.
AT_ONCE = 0.1
#: Seconds after an action of the charter's in which what the page drops is dropped because of it.
ACTION_WINDOW = 1.0
#: Seconds by which the end of what we answer ourselves may be told after the beginning of the next request.
EVENT_SLACK = 0.05
#: Seconds within which two requests were asked at the same time.
AT_THE_SAME_TIME = 0.005
#: Seconds before a step gave up in which an answer came too late to be shown.
TOO_LATE = 1.0

#: Network errors that only the app's own wrong URL can bring about.
PRODUCT_FAILURES = frozenset(
    {
        "net::ERR_DISALLOWED_URL_SCHEME",
        "net::ERR_INVALID_URL",
        "net::ERR_UNKNOWN_URL_SCHEME",
        "net::ERR_UNSAFE_PORT",
    }
)
#: Beginnings of network errors about TLS and its certificates.
CERTIFICATE_FAILURES = ("net::ERR_CERT_", "net::ERR_SSL_", "net::ERR_BAD_SSL_")
ENVIRONMENT_STATUS = frozenset({408, 425, 429})
ACCESS_STATUS = frozenset({401, 403, 407})
#: Content that is meant to arrive bit by bit: open, or cancelled after some of it, is how it should be.
STREAM_TYPES = (
    "text/event-stream",
    "application/x-ndjson",
    "application/stream",
    "application/grpc",
    "multipart/",
)


#: What makes an answer ours, not the server's.
SPOILING = frozenset({FaultEffect.ANSWER, FaultEffect.LOSE})


class Testimony:
    """Answers, for one load, what each of its exchanges says."""

    __test__ = False  # no test class, whatever pytest thinks of its name

    def __init__(self, load: LoadRecord, causality: Causality) -> None:
        self._load = load
        self._causality = causality
        self._cut = load.failure.at if load.failure else load.ended
        self._probes = Probes(load)
        self._contents = ContentRules(load, causality, self._probes)
        self._streams = StreamRules(load, causality)
        self._repeats: dict[RequestKey, list[Exchange]] = {}
        self._siblings: dict[ResourceKey, list[Exchange]] = {}
        for exchange in load.exchanges:
            self._repeats.setdefault(request_key(exchange), []).append(exchange)
            self._siblings.setdefault(resource_key(exchange), []).append(exchange)
        self._well: dict[int, bool] = {}
        failed = load.failure.step if load.failure else None
        acted = [step.began for step in load.steps if step.acts and step.index != failed]
        self._last_action = max(acted, default=0.0)
        self._departures = Departures(load)

    def says(self, exchange: Exchange) -> Says:
        """What this exchange says about the load, by the first rule that applies."""
        if self._left_behind(exchange) or self._expected(exchange) or self._healed(exchange):
            return None
        said = self._by_outcome(exchange)
        if self._only_afterwards(exchange) and (said not in _ENVIRONMENT or self._load.failure is None):
            said = self._by_silence(exchange)
        if self._causality.document(exchange):
            return self._of_document(exchange, said)
        return None if said in _ENVIRONMENT and self._is_noise(exchange) else said

    def _left_behind(self, x: Exchange) -> bool:
        """Its page was closed while it was under way, and before the charter had seen enough."""
        return x.page_closed and (x.page_closed_at is None or x.page_closed_at <= self._cut)

    def _expected(self, x: Exchange) -> bool:
        """A planned fault, which this charter must hold despite."""
        return self._load.resilient and x.fault is not None

    def _of_document(self, x: Exchange, said: Says) -> Says:
        base = self._probes.at(self._load.scope.base_url)
        if said is PRODUCT and x.status == 404 and base is not None:
            if base.status == 404:
                return CauseKind.NOT_DEPLOYED
            if base.status is None or base.status >= 500:
                return CauseKind.DOCUMENT
        return CauseKind.DOCUMENT if said in _ENVIRONMENT and said is not CauseKind.ACCESS else said

    def _is_noise(self, x: Exchange) -> bool:
        needed = self._causality.declared(x) or self._causality.acknowledged(x)
        return not needed and is_noise(x, self._cut, self._load.scope.noise)

    def _by_outcome(self, x: Exchange) -> Says:
        said = self._by_fault(x) or self._by_status(x)
        if said is not None:
            return said
        if x.resource_type == "eventsource" and (x.status or x.failure):
            return self._streams.stream_says(x)
        if x.failure is not None:
            return self._by_failure(x)
        return self._by_silence(x) if x.status is None else self._by_body(x)

    def _only_afterwards(self, x: Exchange) -> bool:
        """Nothing had come of it yet when the charter failed or returned."""
        first = x.responded if x.responded is not None else x.ended
        return first is not None and first > self._cut

    def socket_says(self, socket: Socket) -> CauseKind | None:
        """What a WebSocket says."""
        said = self._streams.socket_says(socket)
        needed = self._causality.declares_url(socket.url)
        return said if needed or not is_socket_noise(socket, self._load.scope.noise) else None

    def moved(self, declaration: Declaration) -> Exchange | None:
        """The exchange by which a declared body changed after the charter had read it, if one did."""
        read = next((x for x in self._load.exchanges if x.id == declaration.exchange), None)
        if read is None or read.digest is None or self._read_again(declaration, read):
            return None
        for x in sorted(self._repeats[request_key(read)], key=lambda x: x.started):
            asked_again = x.started > read.started and matches(declaration.pattern, x.url)
            if asked_again and x.digest not in (None, read.digest) and self._ended_before(x, self._cut):
                return x
        return None

    def _read_again(self, declaration: Declaration, read: Exchange) -> bool:
        """The charter itself has read a newer answer of the same request since."""
        newer = {x.id for x in self._repeats[request_key(read)] if x.started > read.started}
        return any(d.exchange in newer and d.began > declaration.began for d in self._load.declarations)

    # What happened to one exchange

    def _healed(self, exchange: Exchange) -> bool:
        """It was asked again once its fate was known, and answered well before the charter gave up.

        A write that failed in the network may have been carried out twice: that excuses nothing that failed.
        """
        lost_write = exchange.method not in SAFE_METHODS and exchange.failure is not None
        if lost_write and (exchange.status or 0) < 400 and self._load.failure is not None:
            return False
        return any(
            self._repeats_after(other, exchange) and self._answered_well(other)
            for other in self._repeats[request_key(exchange)]
        )

    def _repeats_after(self, other: Exchange, exchange: Exchange) -> bool:
        """Two that are asked at once do not stand in for each other, nor does a write that is asked anew."""
        if not self._asked_knowing(other, exchange):
            return False
        return exchange.method in SAFE_METHODS or not any(
            step.acts and exchange.started < step.began <= other.started for step in self._load.steps
        )

    @staticmethod
    def _asked_knowing(other: Exchange, x: Exchange) -> bool:
        """The page may have asked the one because of what had become of the other."""
        if other.started <= x.started:
            return False
        if x.failure == "net::ERR_ABORTED":
            return True  # the page dropped it itself, for this one perhaps
        if other.asked_mark is not None and x.known_mark is not None:
            return other.asked_mark >= x.known_mark
        known = x.responded if x.failure is None else x.ended
        if known is None:
            return other.started >= x.started + AT_ONCE
        # The end of what we answer ourselves may be told a little after the beginning of the next request.
        return other.started >= (max(known - EVENT_SLACK, x.started + AT_THE_SAME_TIME) if x.fault else known)

    def _superseded(self, exchange: Exchange) -> bool:
        """The page dropped it, on something that the charter did, for a newer request of its kind."""
        dropped = exchange.ended or 0.0
        actions = (s for s in self._load.steps if s.acts and s.name not in PAGE_LOADING)
        on_action = any(s.began <= dropped <= (s.ended or dropped) + ACTION_WINDOW for s in actions)
        return on_action and any(
            other.started >= dropped - EVENT_SLACK and self._answered_well(other)
            for other in self._siblings[resource_key(exchange)]
        )

    def _answered_before(self, exchange: Exchange) -> bool:
        """The same request had been answered well before this one was asked, since the charter last acted."""
        return any(
            self._last_action <= other.started < exchange.started and self._answered_well(other)
            for other in self._repeats[request_key(exchange)]
        )

    def _answered_well(self, x: Exchange) -> bool:
        """Remembered: each is asked about all of its kind before and after it."""
        if x.id not in self._well:
            self._well[x.id] = self._is_answered_well(x)
        return self._well[x.id]

    def _is_answered_well(self, x: Exchange) -> bool:
        spoilt = x.healthy is False or x.content is Content.MALFORMED
        if x.fault_effect in SPOILING or spoilt:
            return False
        in_time = x.responded is not None and x.responded <= self._cut
        if not in_time or x.failure is not None or x.status is None or x.status >= 400:
            return False
        return self._ended_before(x, self._cut) or not self._body_is_due(x)

    @staticmethod
    def _ended_before(x: Exchange, instant: float) -> bool:
        return x.finished and x.ended is not None and x.ended <= instant

    def _by_fault(self, x: Exchange) -> Says:
        """What we broke ourselves is never the product's doing, whatever it looks like."""
        if x.fault_effect in {FaultEffect.ABORT, FaultEffect.LOSE} and x.failure is not None:
            return CauseKind.NETWORK
        if x.fault_effect is FaultEffect.WAIT and x.failure == "net::ERR_ABORTED":
            return CauseKind.GAVE_UP
        if x.fault_effect not in SPOILING or x.status is None:
            return None
        return CauseKind.STATUS if x.status >= 400 else CauseKind.MALFORMED

    def _by_status(self, x: Exchange) -> Says:
        if x.status is None or x.status < 400:
            return None
        if x.status >= 500 or x.status in ENVIRONMENT_STATUS:
            return CauseKind.STATUS
        return CauseKind.ACCESS if x.status in ACCESS_STATUS else PRODUCT

    def _by_failure(self, x: Exchange) -> Says:
        if x.failure is None or (x.status is not None and x.status >= 400):
            return None
        if self._contents.led_to_sign_in(x):
            return CauseKind.ACCESS
        if x.failure == "net::ERR_ABORTED":
            return self._by_abort(x)
        if x.failure.startswith(CERTIFICATE_FAILURES):
            return CauseKind.CERTIFICATE
        if x.failure == "net::ERR_FAILED" and x.status is None:
            return self._by_cors(x)
        # The browser's own refusals (`csp`, `mixed-content`) name no network error.
        named = x.failure.startswith("net::") or x.failure == UNKNOWN_FAILURE
        own_refusal = not named and x.resource_type != "api"
        return PRODUCT if own_refusal or x.failure in PRODUCT_FAILURES else CauseKind.NETWORK

    def _by_cors(self, x: Exchange) -> Says:
        """The browser kept the answer from the page: was it one, and whose?"""
        probe = self._probes.of(x)
        refused_before = x.cors_error is not None and x.cors_error.startswith("Preflight")
        known = x.preflight_status if refused_before else x.hidden_status
        status = known or (probe.status if probe is not None else None)
        if status is None:
            return CauseKind.NETWORK
        if probe is not None and probe.final_url and (probe.sign_in or is_sign_in_url(probe.final_url)):
            return CauseKind.ACCESS
        if status >= 500 or status in ENVIRONMENT_STATUS:
            return CauseKind.STATUS
        if status in ACCESS_STATUS:
            return CauseKind.ACCESS
        return (
            PRODUCT
            if x.cors_error is not None or (probe is not None and not probe.shared)
            else CauseKind.NETWORK
        )

    def _by_abort(self, x: Exchange) -> Says:
        """The request was dropped on this side: by the page, by a navigation, or by a loader that failed."""
        departures = self._departures
        left = departures.explain(x, lost_write=self._is_lost_write(x)) or self._superseded(x)
        if x.main_document or x.frame_document or left or self._stream_with_content(x):
            return None
        if x.resource_type == "script":
            return self._by_aborted_script(x)
        if x.resource_type not in {"fetch", "xhr"}:
            return None
        if self._age(x) >= AT_ONCE:
            return CauseKind.GAVE_UP
        return None if departures.by_any_navigation(x) else PRODUCT

    def _is_lost_write(self, x: Exchange) -> bool:
        """Nobody knows what became of it: where something failed, no navigation excuses that."""
        unanswered = x.responded is None and self._age(x) >= AT_ONCE
        return self._load.failure is not None and x.method not in SAFE_METHODS and unanswered

    def _by_aborted_script(self, x: Exchange) -> Says:
        """No page drops a script: a worker's looks so when it could not be had, and the probe knows why."""
        if x.status is not None:
            return None
        probe = self._probes.of(x)
        status = probe.status if probe is not None else None
        return PRODUCT if status is not None and self._is_product_status(status) else CauseKind.NETWORK

    @staticmethod
    def _is_product_status(status: int) -> bool:
        return 400 <= status < 500 and status not in ENVIRONMENT_STATUS | ACCESS_STATUS

    def _by_silence(self, x: Exchange) -> Says:
        """Neither headers nor a failure came, or a planned fault still held the request back."""
        claimed = self._causality.acknowledged(x) and x.ended is None
        return CauseKind.NO_ANSWER if x.fault or claimed or self._missed(x) else None

    def _missed(self, x: Exchange) -> bool:
        """What is still open was waited for: not so a poll under way when the charter had seen enough."""
        open_for = self._cut - x.started
        if self._answered_before(x):
            return self._load.failure is not None and open_for >= PATIENCE
        return open_for >= (AT_ONCE if self._load.failure else PATIENCE)

    def _by_body(self, x: Exchange) -> Says:
        """Good headers came, and no failure."""
        if not self._ended_before(x, self._cut):
            return CauseKind.STALLED if self._body_is_due(x) and self._missed(x) else None
        if self._empty_by_accident(x):
            return CauseKind.NETWORK
        said = self._contents.says(x)
        if said is not None:
            return said
        return CauseKind.LATE if self._too_late(x) else None

    def _body_is_due(self, x: Exchange) -> bool:
        """A body that is still open is missed: not so one that the app never reads, or a stream."""
        if x.resource_type == "eventsource" or x.status in {204, 304} or x.method == "HEAD":
            return False
        if _is_stream(x):
            return self._causality.declared(x) and x.received == 0
        if self._causality.document(x) or x.resource_type == "script" or self._causality.declared(x):
            return True
        if x.announced is not None:
            return x.received is not None and x.received < x.announced
        return x.method == "GET" or x.resource_type == "xhr"

    @staticmethod
    def _empty_by_accident(x: Exchange) -> bool:
        """200 over HTTP/1 with no byte, and nothing that said that there would be none (cut headers)."""
        silent = not {"content-length", "transfer-encoding"} & {name.lower() for name in x.response_headers}
        # A page that the browser's protocol does not tell of speaks HTTP/1 where it is not encrypted.
        over_http1 = x.protocol.startswith("http/1") if x.protocol else x.url.startswith("http:")
        return x.status == 200 and x.method != "HEAD" and over_http1 and silent and x.received == 0

    def _too_late(self, x: Exchange) -> bool:
        """It finished so shortly before a waiting step gave up that the page had no time to show it."""
        step = self._failed_step()
        failure = self._load.failure
        if step is None or failure is None or not failure.timed_out or x.ended is None or not step.waits:
            return False
        in_second_half = x.ended >= step.began + (failure.at - step.began) / 2
        if not in_second_half or failure.at - x.ended >= TOO_LATE or self._answered_before(x):
            return False
        return x.ended - x.started >= AT_ONCE or self._tried_before(x)

    def _tried_before(self, x: Exchange) -> bool:
        """It stands in for an earlier try of the same request, which was not answered well."""
        tries = (other for other in self._repeats[request_key(x)] if other.started < x.started)
        return any(not self._answered_well(other) for other in tries)

    # What happened around it

    def _age(self, x: Exchange) -> float:
        """Seconds until it ended, by the browser's own clock where that is known: busy machines tell late."""
        if x.failure is not None and x.asked_mark is not None and x.known_mark is not None:
            return x.known_mark - x.asked_mark
        return (x.ended if x.ended is not None else self._cut) - x.started

    def _failed_step(self) -> Step | None:
        failure = self._load.failure
        return None if failure is None or failure.step is None else self._load.steps[failure.step]

    @staticmethod
    def _stream_with_content(x: Exchange) -> bool:
        return x.resource_type == "eventsource" or (_is_stream(x) and bool(x.received))


def _is_stream(x: Exchange) -> bool:
    content_type = next((v for k, v in x.response_headers.items() if k.lower() == "content-type"), "")
    return content_type.lower().startswith(STREAM_TYPES)
