"""Drills on a cart, and the causes of what is said of them."""

from __future__ import annotations

from msgspec import structs

from bughunt.gating.planning import combinations_of
from bughunt.gating.values import Combination, Dependency, Subject
from bughunt.tower import InvestigationView
from bughunt.verdict.judgement import Cause, CauseKind
from tests.reports import samples

CART = Dependency(pattern="**/api/cart", json=True)
SUBJECT = Subject(target="staging", charter="charters/cart.py::cart_total")
KNOWN = structs.replace(SUBJECT, known_bug=True)
LASTING, ONCE = "reset@**/api/cart", "reset:times=1@**/api/cart"


def drill(kind: str = "reset", *, once: bool = False, subject: Subject = SUBJECT) -> Combination:
    """The drill with this fault on the cart's data."""
    return next(d for d in combinations_of(subject, [CART]) if d.kind == kind and d.once is once)


def cause(kind: CauseKind, *, by: str | None = None) -> Cause:
    """A cause on the first load; `by`: the planned fault behind it."""
    return Cause(kind=kind, load=1, reason="so", fault=by)


def with_causes(*causes: Cause, fresh: bool = False) -> InvestigationView:
    """An ENV_ERROR for these causes; `fresh`: its loads had data of their own."""
    view = samples.env_error()
    assert view.judgement is not None
    loads = tuple(structs.replace(load, fresh=fresh) for load in view.loads)
    return structs.replace(view, loads=loads, judgement=structs.replace(view.judgement, causes=causes))


HIDDEN_BY_THE_FAULT = with_causes(cause(CauseKind.NETWORK, by=LASTING), cause(CauseKind.DOCUMENT))
DISTURBED = with_causes(cause(CauseKind.STATE_UNKNOWN), cause(CauseKind.NO_ANSWER))
