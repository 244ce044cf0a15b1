"""The HTML report escapes everything, fetches nothing, and tells all that is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from bughunt.exceptions import EvidenceDamaged
from bughunt.reports import DemoTable, render_html
from bughunt.tower.values import Evidence, EvidenceKind, InvestigationView
from bughunt.verdict.judgement import State
from bughunt.verdict.record import ConsoleLine, FaultEffect
from tests.reports import samples
from tests.reports.samples import NOW, Shelf

NASTY = """</script><img src=x onerror=alert(1)>"'`{{ 7*7 }}{% raw %}\x00\ud800\u202e<!--]]>"""


class Page(HTMLParser):
    """What a browser would make of the report, as far as the tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.attributes: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append(name)
            if name in {
                "src",
                "href",
                "srcset",
                "action",
                "formaction",
                "data",
                "poster",
                "xlink:href",
                "background",
            }:
                self.links.append((name, value or ""))
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(
    views: Sequence[InvestigationView],
    shelf: Shelf | None = None,
    *,
    demo: DemoTable | None = None,
    picture_bytes: int = 6_000_000,
) -> str:
    """The report, which must be fit for a file."""
    text = render_html(
        views, evidence_bytes=shelf or Shelf(), now=NOW, demo=demo, picture_bytes=picture_bytes
    )
    text.encode()
    return text


def rich() -> str:
    """The report on all that there can be."""
    views, shelf = samples.rich_sample()
    return rendered(views, shelf, demo=samples.demo_sample())


def nasty_view(shelf: Shelf) -> InvestigationView:
    """A page under test, a charter and a fault that try to break out wherever text is shown."""
    url = f"http://shop.test/api/cart?q={NASTY}"
    broken = samples.exchange(1, url, 0.05, 0.09, failure=NASTY, fault=NASTY, fault_effect=FaultEffect.ABORT)
    silent = samples.exchange(2, "javascript:alert(1)", 0.05, None, frame_url=f"http://shop.test/{NASTY}")
    console = (ConsoleLine(kind="error", text=NASTY, at=0.1),)
    record = samples.load(
        1,
        samples.document(),
        broken,
        silent,
        failure=samples.failure(0.2, NASTY),
        console=console,
        browser=NASTY,
    )
    evidence = (
        shelf.put(
            EvidenceKind.ARIA, NASTY.encode("utf-8", "surrogatepass"), media_type="text/yaml", name=NASTY
        ),
        shelf.put(EvidenceKind.TRACE, b"PK", media_type="application/zip", name=NASTY),
        shelf.put(EvidenceKind.SCREENSHOT, b"<svg onload=alert(1)>", media_type="image/svg+xml", name=NASTY),
    )
    named = {"question": NASTY, "charter": f"charters/{NASTY}.py::{NASTY}", "target": NASTY}
    judgement = samples.judged(samples.mismatch(1, NASTY), samples.mismatch(2, NASTY))
    return samples.view(
        judgement,
        [record],
        plan=(NASTY,),
        key=named,
        evidence=evidence,
        unfired=(NASTY,),
        notes=(NASTY, NASTY),
    )


def test_text_of_the_page_under_test_is_escaped_everywhere() -> None:
    plain = Page(rendered([samples.bug()]))
    shelf = Shelf()
    text = rendered([nasty_view(shelf)], shelf)
    page = Page(text)
    assert "<img src=x" not in text
    assert "onerror" not in page.attributes
    assert page.tags.count("script") == plain.tags.count("script") == 1
    assert "img" not in page.tags
    assert "{{ 7*7 }}" in page.text


def test_signs_that_no_file_can_hold_are_replaced() -> None:
    shelf = Shelf()
    text = rendered([nasty_view(shelf)], shelf)
    assert not re.search("[\x00\ud800\u202e]", text)
    assert "\ufffd" in text


def test_nothing_in_the_report_points_outside_of_it() -> None:
    text = rich()
    page = Page(text)
    assert page.links
    assert all(value.startswith(("#", "data:image/png;base64,")) for _, value in page.links)
    assert not re.search(r"@import|url\(", text)
    assert not {"link", "iframe", "object", "embed", "base", "form"} & set(page.tags)


def test_every_link_within_the_report_leads_somewhere() -> None:
    page = Page(rich())
    assert {value[1:] for _, value in page.links if value.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_endless_texts_are_cut() -> None:
    endless = ConsoleLine(kind="log", text="a" * 2_000_000, at=0.1)
    cart = samples.exchange(1, "/api/cart?" + "q" * 500_000, 0.05, 0.06, failure="net::ERR_FAILED")
    record = samples.load(1, samples.document(), cart, failure=samples.failure(0.2), console=(endless,) * 500)
    text = rendered([samples.view(samples.judged(samples.held()), [record])])
    assert len(text) < 1_500_000
    assert "2,000,000 characters in all" in text
    assert "300 further lines are not shown" in text


def test_a_report_on_nothing_says_so() -> None:
    page = Page(rendered([]))
    assert "There is no investigation to report on." in page.text
    assert "No investigation" in page.text


def test_the_kinds_of_outcome_are_counted_and_claims_kept_apart() -> None:
    text = rich()
    verified, claims = text.split('aria-label="Outcomes"')[1].split('aria-label="Unverified claims"')
    assert "claims BUG" not in verified
    assert "claims BUG" in claims


def test_an_investigation_is_told_in_full() -> None:
    views, shelf = samples.rich_sample()
    words = Page(rendered([views[1]], shelf)).text
    for told in (
        "The same on loads 2 and 3",
        "mismatch, healthy network",
        "E5, repeated by an independent load",
        "Q-2 · RUN-2",
        "drill: broken on purpose",
        "fired on 1 exchange, load 1",
        "never fired",
        "ERR_CONNECTION_RESET",
        "gave up at 5.1 s",
        'heading "Your cart"',
        "playwright show-trace",
        "behind it: the planned fault",
    ):
        assert told in words, told


def test_what_is_still_open_has_an_open_end_and_its_cause_in_words() -> None:
    loads = [samples.busy_load(n) for n in (1, 2)]
    text = rendered([samples.view(samples.judged(*loads), loads)])
    assert 'class="x cause still-open"' in text
    assert "cause: no answer" in text
    assert "open after 5.0 s" in text
    assert "57 more exchanges, all answered, none a cause" in text


def test_a_hint_is_shown_with_its_cause() -> None:
    refused = samples.exchange(1, "/api/cart", 0.05, 0.06, status=403, finished=True)
    loads = [samples.load(n, samples.document(), refused, failure=samples.failure(0.2)) for n in (1, 2)]
    assert "Consider: may be a real access bug" in rendered([samples.view(samples.judged(*loads), loads)])


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.STALE])
def test_a_run_that_is_not_over_has_no_verdict(state: State) -> None:
    page = Page(rendered([samples.without_judgement(state, plan=("reset@**/api/cart",))]))
    assert f"No verdict: the run is {state}." in page.text
    assert "not known yet" in page.text


def test_a_run_that_was_killed_tells_what_it_left() -> None:
    shelf = Shelf()
    started = shelf.put(EvidenceKind.LOAD_STARTED, b"{}", load=2)
    killed = samples.without_judgement(State.FAILED, notes=("Its process ended.",), evidence=(started,))
    words = Page(rendered([killed], shelf)).text
    assert "Ended without a judgement: Its process ended." in words
    assert "no complete record was written: load 2" in words


def test_pictures_beyond_the_limit_are_left_out_and_told_of() -> None:
    views, shelf = samples.rich_sample()
    room = len(samples.png()) * 2 + 10
    text = rendered(views, shelf, picture_bytes=room)
    assert text.count("data:image/png;base64,") == 2
    assert "4 of the screenshots are left out" in text
    assert "left out to keep this file small" in text


def test_evidence_that_is_damaged_or_removed_fails_no_report() -> None:
    def damaged(evidence: Evidence) -> bytes:
        raise EvidenceDamaged(f"evidence {evidence.seq} was changed")

    shelf = Shelf()
    kinds = (EvidenceKind.SCREENSHOT, EvidenceKind.ARIA)
    lost = tuple(shelf.put(kind, b"x", media_type="image/png") for kind in kinds)
    gone = tuple(
        shelf.put(kind, b"x", load=2, media_type="image/png", tombstone="after 90 days") for kind in kinds
    )
    view = samples.bug(evidence=(*lost, *gone))
    text = render_html([view], evidence_bytes=damaged, now=NOW)
    assert text.count("cannot be read: evidence") == 2
    assert text.count("removed: after 90 days") == 4  # both in their places, and in the list of all evidence


def test_the_demo_stands_on_top_and_marks_false_alarms() -> None:
    text = rendered([samples.passed()], demo=samples.demo_sample())
    assert text.index("product bug + reset once") < text.index('id="summary"')
    assert text.count("false alarm") == 4
    assert "False BUG reports: naive 4, careful 0. Missed bugs: naive 0, careful 0." in text


def test_what_is_urgent_comes_first() -> None:
    text = rendered([samples.passed(1), samples.env_error(2), samples.bug(3)])
    assert (
        text.index('<article id="run-3"')
        < text.index('<article id="run-2"')
        < text.index('<article id="run-1"')
    )
