"""Small factories of what the tower would hold, and one rich sample of every kind of outcome."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from bughunt.reports import DemoRow, DemoTable
from bughunt.tower.values import Evidence, EvidenceKind, InvestigationView, NewQuestion, Question, Run
from bughunt.verdict.judgement import Cause, CauseKind, Judgement, Reason, State, Verdict
from bughunt.verdict.record import (
    ConsoleLine,
    Crash,
    Declaration,
    Exchange,
    Failure,
    FailureKind,
    FaultEffect,
    Hop,
    LoadRecord,
    Scope,
    Step,
)
from bughunt.verdict.rules import LoadAgain, claim, decide

NOW = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)
BASE = "http://shop.test"
QUESTION = "Does the cart show the right total?"
CHARTER = "charters/cart.py::cart_total"
TOTAL = "Locator expected to have text '487.00'\nActual value: 288.00"


def exchange(number: int, path: str, started: float, ended: float | None, **more: object) -> Exchange:
    """An exchange with the shop, answered with 200 unless `more` says otherwise."""
    url = path if "//" in path else BASE + path
    usual: dict[str, object] = {"method": "GET", "resource_type": "fetch", "frame_url": BASE + "/"}
    if ended is not None and not {"failure", "status"} & more.keys():
        usual |= {"status": 200, "finished": True, "responded": started + (ended - started) * 0.7}
    return Exchange(**(usual | {"id": number, "url": url, "started": started, "ended": ended} | more))  # type: ignore[arg-type]


def document(ended: float = 0.04) -> Exchange:
    """The page itself."""
    return exchange(0, "/", 0.01, ended, resource_type="document", main_document=True, frame_url="")


def failure(at: float, message: str = TOTAL, **more: object) -> Failure:
    """An expectation that gave up."""
    usual = {"kind": FailureKind.ASSERTION, "type": "AssertionError", "message": message, "at": at}
    return Failure(**(usual | {"step": 2, "lines": (12,), "timed_out": True} | more))  # type: ignore[arg-type]


def load(number: int, *exchanges: Exchange, ended: float = 0.2, **more: object) -> LoadRecord:
    """A load of the cart with three steps."""
    asked = min(ended, 0.1)
    steps = (
        Step(index=0, name="Page.goto", target="/", line=9, began=0.0, ended=asked / 2, acts=True),
        Step(index=1, name="Network.json", target="**/api/cart", line=10, began=asked / 2, ended=asked),
        Step(
            index=2,
            name="LocatorAssertions.to_have_text",
            target='[data-testid="total"]',
            line=12,
            began=asked,
            ended=ended,
        ),
    )
    usual: dict[str, object] = {
        "began_at": NOW.isoformat(),
        "scope": Scope(base_url=BASE, own_hosts=("shop.test",)),
        "declarations": (Declaration(pattern="**/api/cart", began=asked / 2, ended=asked, exchange=None),),
        "steps": steps,
        "browser": "chromium 141.0",
    }
    return LoadRecord(**(usual | {"number": number, "ended": ended, "exchanges": exchanges} | more))  # type: ignore[arg-type]


def held(number: int = 1) -> LoadRecord:
    """A load in which all was well."""
    return load(number, document(), exchange(1, "/api/cart", 0.05, 0.09))


def mismatch(number: int = 1, message: str = TOTAL) -> LoadRecord:
    """A wrong total with a healthy network."""
    cart = exchange(1, "/api/cart", 0.05, 0.09)
    return load(number, document(), cart, ended=5.1, failure=failure(5.1, message))


def blocked(number: int = 1, fault: str | None = None) -> LoadRecord:
    """The cart's data was reset in the network."""
    cart = exchange(
        1,
        "/api/cart",
        0.05,
        0.06,
        failure="net::ERR_CONNECTION_RESET",
        fault=fault,
        fault_effect=FaultEffect.ABORT if fault else None,
    )
    return load(number, document(), cart, ended=5.1, failure=failure(5.1), routed=bool(fault))


def judged(*loads: LoadRecord) -> Judgement:
    """What the careful agent's rules say."""
    decision = decide(loads)
    assert not isinstance(decision, LoadAgain), decision.why
    return decision


def run_of(judgement: Judgement | None, number: int, **more: object) -> Run:
    """The stored run that ended with this judgement."""
    usual: dict[str, object] = {
        "id": number,
        "question": number,
        "agent": "careful",
        "state": judgement.state if judgement else State.RUNNING,
        "rules_version": 1,
        "owner": "process-1",
        "lease_until": NOW,
        "created_at": NOW,
        "started_at": NOW,
    }
    if judgement is not None:
        usual |= {"verdict": judgement.verdict, "reason": judgement.reason, "level": judgement.level}
        usual |= {"terminal_at": NOW + timedelta(seconds=12.5)}
        if judgement.state is State.DONE:
            usual |= {"landed_at": NOW, "landing_note": f"{BASE}/: the total was looked at"}
    return Run(**(usual | more))  # type: ignore[arg-type]


def view(
    judgement: Judgement | None = None,
    loads: Sequence[LoadRecord] = (),
    *,
    number: int = 1,
    run: Run | None = None,
    plan: tuple[str, ...] = (),
    key: dict[str, str] | None = None,
    **more: object,
) -> InvestigationView:
    """An investigation of the cart."""
    named = {"project": "shop", "charter": CHARTER, "question": QUESTION, "target": "staging"} | (key or {})
    asked = NewQuestion(**named, plan=plan, plan_fingerprint="f" if plan else "")
    question = Question(id=number, key=asked, state="OPEN", created_at=NOW)
    made = run or run_of(judgement, number)
    return InvestigationView(question=question, run=made, judgement=judgement, loads=tuple(loads), **more)  # type: ignore[arg-type]


def passed(number: int = 1, **more: object) -> InvestigationView:
    """A verified PASS."""
    return view(judged(held()), [held()], number=number, **more)  # type: ignore[arg-type]


def bug(number: int = 1, message: str = TOTAL, **more: object) -> InvestigationView:
    """A verified BUG."""
    loads = [mismatch(1, message), mismatch(2, message)]
    return view(judged(*loads), loads, number=number, **more)  # type: ignore[arg-type]


def env_error(number: int = 1, fault: str | None = None, **more: object) -> InvestigationView:
    """ENV_ERROR after two blocked loads, of a drill where a fault is given."""
    loads = [blocked(1, fault), blocked(2, fault)]
    return view(judged(*loads), loads, number=number, plan=(fault,) if fault else (), **more)  # type: ignore[arg-type]


def claimed(record: LoadRecord, number: int = 1, **more: object) -> InvestigationView:
    """What the naive agent claims of one load."""
    judgement = claim(record)
    return view(judgement, [record], number=number, run=run_of(judgement, number, agent="naive"), **more)  # type: ignore[arg-type]


def without_judgement(state: State, number: int = 1, **more: object) -> InvestigationView:
    """A run that is not over, or ended without being judged."""
    reason = Reason.HARNESS_ERROR if state is State.FAILED else None
    terminal_at = None if state in (State.RUNNING, State.QUEUED, State.STALE) else NOW
    run = run_of(None, number, state=state, reason=reason, terminal_at=terminal_at)
    return view(None, [], number=number, run=run, **more)  # type: ignore[arg-type]


class Shelf:
    """Evidence with its bytes, as a tower keeps it."""

    def __init__(self) -> None:
        self._bytes: dict[str, bytes] = {}
        self._count = 0

    def put(self, kind: EvidenceKind, data: bytes, *, run: int = 1, **more: object) -> Evidence:
        """A piece of evidence that holds these bytes."""
        self._count += 1
        digest = sha256(data).hexdigest()
        self._bytes[digest] = data
        usual: dict[str, object] = {"id": self._count, "run": run, "seq": self._count, "at": NOW}
        usual |= {"media_type": "application/json", "load": 1, "digest": digest, "size": len(data)}
        return Evidence(**(usual | {"kind": kind} | more))  # type: ignore[arg-type]

    def __call__(self, evidence: Evidence) -> bytes:
        return self._bytes[evidence.digest]


def png(width: int = 640, height: int = 360, shade: int = 235) -> bytes:
    """A picture of a page with a header, some text and a red line."""
    rows = b"".join(b"\x00" + bytes(_pixels(y, width, height, shade)) for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _pixels(y: int, width: int, height: int, shade: int) -> list[int]:
    if y < height // 9:
        return [40, 70, 120] * width
    text = y % 30 in range(6) and y > height // 5
    inside = [90, 90, 96] if text else [shade, shade, shade]
    edge, middle = width // 12, width // 2
    return [shade] * 3 * edge + inside * middle + [shade] * 3 * (width - edge - middle)


def busy_load(number: int, *, exchanges: int = 60) -> LoadRecord:
    """A load of a real shop: many exchanges, long URLs, redirects, one that never answers."""
    tracking = "https://metrics.example.net/collect?" + "&".join(
        f"campaign{n}=spring-sale-2025" for n in range(40)
    )
    listed = [document(0.18)]
    for n in range(1, exchanges - 3):
        begin = 0.15 + n * 0.02
        kind = ("image", "stylesheet", "script", "font", "fetch")[n % 5]
        path = f"/assets/{kind}s/{n:03d}-module.chunk.{'abcdef0123456789' * (n % 4)}.bin"
        listed.append(exchange(n, path, begin, begin + 0.03 * (1 + n % 7), resource_type=kind))
    n = len(listed)
    listed += [
        exchange(
            n,
            "/login/session",
            0.4,
            0.75,
            status=200,
            finished=True,
            hops=(Hop(url=BASE + "/sso", status=302),),
        ),
        exchange(n + 1, tracking, 0.5, 0.9, status=503, resource_type="ping"),
        exchange(n + 2, "/api/cart", 0.62, None, protocol="http/1.1"),
        exchange(
            n + 3,
            "/api/recommendations?for=cart",
            0.65,
            None,
            status=200,
            responded=1.1,
            received=812,
            announced=4096,
        ),
    ]
    console = (
        ConsoleLine(kind="log", text="cart: asking for data", at=0.6),
        ConsoleLine(
            kind="error", text="Failed to load resource: the server responded with a status of 503 ()", at=0.9
        ),
        ConsoleLine(
            kind="pageerror", text="TypeError: cannot read properties of undefined (reading 'items')", at=5.4
        ),
    )
    return load(number, *listed, ended=5.6, failure=failure(5.6), console=console)


def rich_sample() -> tuple[list[InvestigationView], Shelf]:
    """All outcomes as a nightly run and a drill would leave them, with pictures."""
    shelf = Shelf()
    reset, slow = "reset:times=1@**/api/cart", "delay=2s@**/api/prices"
    wrong = [blocked(1, reset), mismatch(2), mismatch(3)]
    busy = [busy_load(1), busy_load(2)]
    recovered = [blocked(1, reset), held(2)]
    selector = load(
        1, document(), failure=failure(0.2, "strict mode violation: 3 elements", kind=FailureKind.SELECTOR)
    )
    crash = [
        load(n, document(), ended=1.4, failure=failure(1.4), crash=Crash(what="renderer", at=1.38))
        for n in (1, 2)
    ]
    fickle = [mismatch(1), held(2), blocked(3), mismatch(4)]
    views = [
        passed(1),
        view(
            judged(*wrong),
            wrong,
            number=2,
            plan=(reset, slow),
            unfired=(slow,),
            evidence=_pictures(shelf, 2, (1, 2, 3)),
        ),
        view(
            judged(*busy),
            busy,
            number=3,
            evidence=_pictures(shelf, 3, (1, 2)),
            key={
                "question": "Can a customer who comes back from the sign-in page see all of the cart?",
                "charter": "charters/checkout/returning_customers.py::cart_survives_sign_in",
                "target": "http://shop-staging.internal.example:8443",
            },
        ),
        view(judged(*recovered), recovered, number=4, plan=(reset,), evidence=_pictures(shelf, 4, (1,))),
        view(
            judged(selector),
            [selector],
            number=5,
            key={"charter": "charters/cart.py::coupon", "question": "Is the coupon taken off?"},
        ),
        view(
            judged(*crash),
            crash,
            number=6,
            key={"charter": "charters/map.py::stores", "question": "Does the map show the stores?"},
        ),
        view(
            judged(*fickle),
            fickle,
            number=7,
            key={"charter": "charters/cart.py::badge", "question": "Does the badge count the items?"},
        ),
        claimed(blocked(1, reset), 8, plan=(reset,)),
        claimed(held(), 9),
        without_judgement(
            State.FAILED,
            10,
            notes=("Its process ended without finishing; what it had recorded is kept.",),
            evidence=(shelf.put(EvidenceKind.LOAD_STARTED, b"{}", run=10),),
        ),
        without_judgement(State.RUNNING, 11),
    ]
    return views, shelf


def _pictures(shelf: Shelf, run: int, loads: Sequence[int]) -> tuple[Evidence, ...]:
    found = []
    for n in loads:
        found.append(shelf.put(EvidenceKind.NETWORK, b"{}" * 900, run=run, load=n))
        found.append(
            shelf.put(
                EvidenceKind.SCREENSHOT, png(), run=run, load=n, media_type="image/png", name=f"load-{n}.png"
            )
        )
        aria = b'- banner:\n  - link "Shop"\n- main:\n  - heading "Your cart" [level=1]\n  - text: "288.00"'
        found.append(
            shelf.put(
                EvidenceKind.ARIA, aria, run=run, load=n, media_type="text/yaml", name=f"load-{n}.aria.yml"
            )
        )
        found.append(
            shelf.put(
                EvidenceKind.TRACE,
                b"PK" * 600_000,
                run=run,
                load=n,
                media_type="application/zip",
                name=f"load-{n}.zip",
            )
        )
    return tuple(found)


def demo_sample() -> DemoTable:
    """The chapter's seven scenarios as they should come out."""
    causes = tuple(
        Cause(
            kind=CauseKind.NETWORK,
            load=n,
            reason="network error (net::ERR_CONNECTION_RESET) for GET /api/cart",
        )
        for n in (1, 2)
    )
    passes, is_bug, env = Verdict.PASS, Verdict.BUG, Verdict.ENV_ERROR
    told: list[tuple[str, Verdict, Verdict, Verdict, int, int]] = [
        ("healthy", passes, passes, passes, 1, 0),
        ("product bug", is_bug, is_bug, is_bug, 1, 1),
        ("reset, always", env, is_bug, env, 2, 0),
        ("503, always", env, is_bug, env, 2, 0),
        ("slow 2 s, always", env, is_bug, env, 2, 0),
        ("reset, once", passes, is_bug, passes, 2, 0),
        ("product bug + reset once", is_bug, is_bug, is_bug, 2, 1),
    ]
    return DemoTable(
        rows=tuple(
            DemoRow(
                scenario=scenario,
                truth=truth,
                naive=naive,
                careful=careful,
                loads=loads,
                confirmations=more,
                causes=causes if careful is env else (),
            )
            for scenario, truth, naive, careful, loads, more in told
        )
    )
