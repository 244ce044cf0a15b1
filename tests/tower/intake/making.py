"""Messages and open questions of a shop, each with sane defaults."""

from __future__ import annotations

from datetime import UTC, datetime

from bughunt.tower.intake import Decision, Incoming, OpenQuestion, decide

TOUCHED = datetime(2026, 3, 1, tzinfo=UTC)


def a_question(number: int, text: str, charter: str, target: str = "staging") -> OpenQuestion:
    return OpenQuestion(id=number, text=text, charter=charter, target=target, last_touched=TOUCHED)


QUESTIONS = (
    a_question(12, "Does the basket show the right total with a coupon?", "shop.py::basket_total"),
    a_question(
        13, "Does the basket show the right total with a coupon?", "shop.py::basket_total", "production"
    ),
    a_question(20, "Can a visitor reset a forgotten password?", "shop.py::password_reset"),
    a_question(31, "导出的表格是否包含全部订单？", "shop.py::order_export", "uat"),
)


def decided(text: str, questions: tuple[OpenQuestion, ...] = QUESTIONS, **values: object) -> Decision:
    message = Incoming(text=text, **({"source": "chat"} | values))  # type: ignore[arg-type]  # values by name
    return decide(message, questions)
