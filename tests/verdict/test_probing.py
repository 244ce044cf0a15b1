"""What the probe asks."""

from __future__ import annotations

import pytest

from bughunt.verdict.judgement import CauseKind
from bughunt.verdict.probing import MOST_PROBES, doubts
from bughunt.verdict.record import Content, Exchange, LoadRecord, Probe
from tests.verdict.making import APP, CART, aborted, declaration, document, exchange, failed, held, load, says

REFUSED = failed("net::ERR_FAILED", "http://api.test/cart")


def asked(record: LoadRecord) -> list[tuple[str, str]]:
    return [(doubt.method, doubt.url) for doubt in doubts(record)]


@pytest.mark.parametrize(
    "doubtful",
    [
        REFUSED,
        exchange(content=Content.MALFORMED),
        exchange(content=Content.EMPTY),
        exchange(content=Content.HTML),
        exchange(status=503),
        failed("net::ERR_FAILED", hidden_status=503),
        aborted(0.05, f"{APP}/worker.js", resource_type="script"),
        exchange(response_headers={"content-encoding": "br, gzip"}),
        exchange(method="HEAD", status=500),
    ],
)
def test_what_the_page_cannot_tell_is_asked_from_outside(doubtful: Exchange) -> None:
    assert asked(load(doubtful)) == [(doubtful.method, doubtful.url)]


@pytest.mark.parametrize(
    "clear",
    [
        exchange(content=Content.JSON),
        exchange(status=404),
        failed("net::ERR_CONNECTION_RESET"),
        failed("net::ERR_FAILED", hidden_status=200),
        exchange(status=503, method="POST"),
        exchange(status=503, fault="503@**/api/cart"),
        exchange(status=503, service_worker=True),
        exchange(status=503, resource_type="image"),
        exchange(status=503, resource_type="eventsource"),
        exchange(response_headers={"content-encoding": "br"}),
        exchange(content=Content.JSON, response_headers={"content-encoding": "gzip"}),
    ],
)
def test_what_is_clear_what_we_broke_and_what_writes_is_never_asked(clear: Exchange) -> None:
    assert asked(load(clear)) == []


def test_after_a_load_that_held_only_what_is_declared_is_asked() -> None:
    broken = exchange(content=Content.MALFORMED)
    assert asked(held(broken)) == []
    assert asked(held(broken, declarations=(declaration(),))) == [("GET", CART)]


def test_a_closed_list_is_not_left() -> None:
    record = load(exchange(f"{APP}/api/other", status=503), exchange(id=2))
    closed = record.scope.__class__(base_url=APP, own_hosts=("shop.test",), depends_on=("**/api/cart",))
    assert asked(load(*record.exchanges, scope=closed)) == []


def test_each_request_is_asked_once_the_most_telling_first() -> None:
    broken = exchange(f"{APP}/api/other", id=2, status=503)
    record = load(broken, exchange(f"{APP}/api/other", id=3, status=503), REFUSED)
    assert asked(record) == [("GET", REFUSED.url), ("GET", broken.url)]


def test_there_is_an_end_of_asking() -> None:
    many = [exchange(f"{APP}/api/{n}", id=n, status=503) for n in range(1, 40)]
    assert len(doubts(load(*many))) == MOST_PROBES


def test_a_document_that_is_missing_raises_the_question_of_the_base_url() -> None:
    record = load(document(f"{APP}/shop", status=404))
    assert asked(record) == [("GET", APP)]
    base = Probe(exchange=0, url=APP, status=404)
    assert says(record.exchanges[0], probes=(base,)) is CauseKind.NOT_DEPLOYED
    assert (
        says(record.exchanges[0], probes=(Probe(exchange=0, url=APP, status=200),)) != CauseKind.NOT_DEPLOYED
    )


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ({"status": 503}, CauseKind.STATUS),
        ({"status": 401}, CauseKind.ACCESS),
        ({"status": 200}, "product"),
        ({"status": 404}, "product"),
        ({"status": 200, "final_url": "https://sso.test/login"}, CauseKind.ACCESS),
        ({"status": 200, "final_url": "https://sso.test/u/1", "sign_in": True}, CauseKind.ACCESS),
        ({"status": 200, "final_url": "https://shop.test/v2"}, "product"),
        ({"status": 200, "shared": True}, CauseKind.NETWORK),
        ({"status": None, "failure": "ConnectError"}, CauseKind.NETWORK),
    ],
)
def test_what_the_probe_sees_tells_what_cors_hides(probe: dict[str, object], said: object) -> None:
    answer = Probe(exchange=1, url=REFUSED.url, **probe)  # type: ignore[arg-type]
    assert says(REFUSED, probes=(answer,)) == said
