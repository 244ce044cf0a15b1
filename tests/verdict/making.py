"""Small factories: a load of which each test names only what matters."""

from __future__ import annotations

from typing import Any

from bughunt.verdict.causality import Causality
from bughunt.verdict.record import (
    Crash,
    Declaration,
    Exchange,
    Failure,
    FailureKind,
    LoadRecord,
    Scope,
    Step,
)
from bughunt.verdict.sayings import Says, Testimony

APP = "http://shop.test"
ELSEWHERE = "http://elsewhere.test"
CART = f"{APP}/api/cart"

#: When a load of these tests ends unless it says otherwise: late enough for any silence to say something.
END = 10.0

JSON = {"content-type": "application/json", "content-length": "20"}


def exchange(url: str = CART, **given: Any) -> Exchange:
    """A fetch of the app's own that was answered well, long before the load ended."""
    usual: dict[str, Any] = {
        "id": 1,
        "method": "GET",
        "resource_type": "fetch",
        "started": 1.0,
        "frame_url": f"{APP}/",
        "responded": 1.1,
        "ended": 1.2,
        "status": 200,
        "finished": True,
        "response_headers": JSON,
        "announced": 20,
        "received": 20,
        "protocol": "http/1.1",
    }
    return Exchange(url=url, **(usual | given))


def unanswered(url: str = CART, **given: Any) -> Exchange:
    """One that was sent and never answered."""
    never: dict[str, Any] = {
        "responded": None,
        "ended": None,
        "status": None,
        "finished": False,
        "response_headers": {},
        "announced": None,
        "received": None,
        "protocol": None,
    }
    return exchange(url, **(never | given))


def failed(failure: str, url: str = CART, **given: Any) -> Exchange:
    """One that failed in the browser without an answer."""
    return unanswered(url, **({"failure": failure, "ended": 1.2} | given))


def aborted(age: float, url: str = CART, **given: Any) -> Exchange:
    """One that was dropped on the page's side so many seconds after it was sent."""
    started = given.get("started", 1.0)
    return failed("net::ERR_ABORTED", url, **({"ended": started + age} | given))


def open_body(url: str = CART, **given: Any) -> Exchange:
    """One whose headers came and whose body did not."""
    half: dict[str, Any] = {"ended": None, "finished": False, "received": 0}
    return exchange(url, **(half | given))


def document(url: str = f"{APP}/", **given: Any) -> Exchange:
    """The page itself, answered well."""
    usual: dict[str, Any] = {
        "id": 0,
        "resource_type": "document",
        "main_document": True,
        "started": 0.0,
        "responded": 0.1,
        "ended": 0.2,
        "frame_url": "about:blank",
        "navigation_of": 0,
        "response_headers": {"content-type": "text/html", "content-length": "20"},
    }
    return exchange(url, **(usual | given))


def step(name: str = "LocatorAssertions.to_have_text", **given: Any) -> Step:
    """An expectation that waited from 5 s on until the load ended."""
    usual: dict[str, Any] = {
        "index": 0,
        "target": "internal:testid=[data-testid='total']",
        "line": 12,
        "began": 5.0,
        "ended": END,
    }
    return Step(name=name, **(usual | given))


def failure(kind: FailureKind = FailureKind.ASSERTION, **given: Any) -> Failure:
    """An expectation that gave up when its time had run out."""
    usual: dict[str, Any] = {
        "type": "AssertionError",
        "message": "Locator expected to have text '487.00'\nActual value: 288.00",
        "at": END,
        "step": 0,
        "lines": (12,),
        "timed_out": True,
    }
    return Failure(kind=kind, **(usual | given))


#: A plain `assert` of the charter's own, in no step.
PLAIN_ASSERT = failure(step=None, timed_out=False)


def declaration(pattern: str = "**/api/cart", **given: Any) -> Declaration:
    """`net.json(pattern)`, begun at 0.5 s."""
    return Declaration(pattern=pattern, **({"began": 0.5, "ended": 1.5} | given))


def scope(**given: Any) -> Scope:
    """The shop, and nothing else, is the app's own."""
    return Scope(**({"base_url": APP, "own_hosts": ("shop.test",)} | given))


def load(*exchanges: Exchange, **given: Any) -> LoadRecord:
    """A load that failed at 10 s, with a document before its exchanges, unless they bring one."""
    if not any(x.main_document for x in exchanges) and not any(x.id == 0 for x in exchanges):
        exchanges = (document(), *exchanges)
    usual: dict[str, Any] = {
        "number": 1,
        "began_at": "2026-01-01T00:00:00+00:00",
        "scope": scope(),
        "ended": END,
        "exchanges": exchanges,
        "steps": (step(),),
        "failure": failure(),
    }
    return LoadRecord(**(usual | given))


def held(*exchanges: Exchange, **given: Any) -> LoadRecord:
    """A load whose charter returned."""
    return load(*exchanges, **({"failure": None} | given))


def mismatch(number: int = 1, *, line: int = 12, **given: Any) -> LoadRecord:
    """A load that showed something else in health."""
    return load(exchange(), number=number, failure=failure(lines=(line,)), **given)


def blocked(number: int = 1, **given: Any) -> LoadRecord:
    """A load whose cart was answered 503."""
    return load(exchange(status=503, **given), number=number)


def crashed(number: int = 1) -> LoadRecord:
    """A load in which the renderer died."""
    return load(
        number=number,
        failure=failure(FailureKind.DEADLINE, step=None, timed_out=False),
        crash=Crash(what="renderer", at=2.0),
    )


def unclear(number: int = 1, *, error: str = "KeyError") -> LoadRecord:
    """A load whose charter raised something else in health."""
    wrong = failure(FailureKind.EXCEPTION, type=error, message="'items'", step=None, timed_out=False)
    return load(exchange(), number=number, failure=wrong)


def wrong_selector(number: int = 1) -> LoadRecord:
    """A load whose charter named two elements at once."""
    wrong = failure(FailureKind.SELECTOR, message="strict mode violation", timed_out=False)
    return load(exchange(), number=number, failure=wrong)


def held_up(number: int = 1) -> LoadRecord:
    """A load whose `goto` timed out on somebody else's image."""
    goto = step("Page.goto", target="/", began=0.0, acts=True)
    image = unanswered(f"{ELSEWHERE}/ad.png", resource_type="image")
    return load(image, number=number, steps=(goto,), failure=failure(FailureKind.TIMEOUT))


def broken_harness(number: int = 1) -> LoadRecord:
    """A load of which we ourselves made a mess."""
    wrong = failure(FailureKind.HARNESS, type="HarnessError", step=None, timed_out=False)
    return load(number=number, failure=wrong)


def says(of: Exchange, *others: Exchange, **given: Any) -> Says:
    """What an exchange says in a load that holds it and the others."""
    record = load(of, *others, **given)
    return Testimony(record, Causality(record)).says(of)


def is_causal(of: Exchange, *others: Exchange, **given: Any) -> bool:
    """Whether an exchange is causal in a load that holds it and the others."""
    return Causality(load(of, *others, **given)).causal(of)
