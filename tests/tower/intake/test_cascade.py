"""Each step of the cascade decides what is plain to it, and leaves the rest to the next."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bughunt.tower.intake import Decision, Incoming, Relation, decide
from bughunt.tower.intake import deciding as way
from bughunt.tower.intake.cascade import CERTAIN
from tests.tower.intake.making import QUESTIONS, decided
from tests.tower.processes import output

LINK, FACT = Relation.LINK_EXISTING_Q, Relation.EVIDENCE_OR_ACCEPTANCE


class TestReferences:
    @pytest.mark.parametrize("text", ["Q-20 once more please", "q20 again please", "Q20 麻烦重跑一下"])
    def test_a_number_names_a_question(self, text: str) -> None:
        assert (decided(text).relation, decided(text).links) == (LINK, (20,))

    def test_a_run_names_its_question(self) -> None:
        said = decided("RUN-7 again please, staging was restarted", runs={7: 20})
        assert (said.relation, said.links) == (LINK, (20,))

    def test_two_numbers_name_two(self) -> None:
        assert set(decided("Q-12 and Q-20: please repeat both").links) == {12, 20}

    @pytest.mark.parametrize("text", ["Q-999 again please", "RUN-7 again please", "Q400 的结论我不认可"])
    def test_a_number_that_nobody_knows_waits(self, text: str) -> None:
        assert decided(text).relation is None

    @pytest.mark.parametrize(
        "text",
        [
            "Q-12 again please: can a visitor reset a forgotten password?",
            "Q-20 order_export again please",
            "Q20 重跑一下，看导出的表格是否包含全部订单",
        ],
        ids=["words", "charter", "chinese"],
    )
    def test_a_number_whose_question_is_plainly_another_waits(self, text: str) -> None:
        assert (decided(text).relation, decided(text).step) == (None, "references")

    def test_a_number_and_a_charter_that_are_listed_name_two(self) -> None:
        assert set(decided("please rerun Q-20 and order_export").links) == {20, 31}

    def test_a_number_that_is_set_aside_is_not_meant(self) -> None:
        assert decided("not Q-12, I mean Q-20: rerun it please").links == (20,)

    def test_a_number_on_the_target_of_its_sibling_means_the_sibling(self) -> None:
        said = decided("Q-12 on production as well please")
        assert (said.relation, said.links) == (LINK, (13,))

    def test_a_bare_number_is_never_filler(self) -> None:
        assert decided("Q-20").relation is not Relation.IGNORE

    def test_a_charter_with_its_target_names_one(self) -> None:
        said = decided("basket_total on production failed: expected '10.00', got '9.00'", source="ci")
        assert (said.relation, said.links) == (FACT, (13,))

    def test_a_charter_on_several_targets_waits_for_one_of_them(self) -> None:
        assert decided("please rerun basket_total").relation is None

    def test_a_known_charter_on_another_target_is_a_new_question(self) -> None:
        said = decided("password_reset on production as well, please")
        assert (said.relation, said.target) == (Relation.NEW_Q, "production")


class TestThread:
    @pytest.mark.parametrize("text", ["continue", "再跑一次", "any news?"])
    def test_what_goes_on_belongs_to_the_threads_question(self, text: str) -> None:
        assert (decided(text, thread=(20,)).relation, decided(text, thread=(20,)).links) == (LINK, (20,))

    def test_the_same_without_a_thread_waits(self) -> None:
        assert decided("any news?").relation is None

    def test_the_only_open_question_is_the_one_that_is_gone_on_with(self) -> None:
        assert decided("is it done?", (QUESTIONS[2],)).links == (20,)

    def test_a_file_in_a_thread_is_a_fact_about_it(self) -> None:
        said = decided("here is the recording of it", thread=(20,), attachments=("film.webm",))
        assert (said.relation, said.links) == (FACT, (20,))


class TestSchedule:
    def test_what_is_known_is_asked_again(self) -> None:
        said = decided("nightly 2026-03-01 password_reset staging", source="schedule")
        assert (said.relation, said.links, said.step) == (LINK, (20,), "schedule")

    def test_what_is_not_known_is_asked_first(self) -> None:
        said = decided("nightly 2026-03-01 wish_list staging", source="schedule")
        assert (said.relation, said.target) == (Relation.NEW_Q, "staging")

    def test_several_are_split(self) -> None:
        said = decided("nightly 2026-03-01 wish_list staging; order_export uat; login uat", source="schedule")
        assert said.relation is Relation.SPLIT_TO_N_Q
        assert [(part.relation, part.links, part.target) for part in said.parts] == [
            (Relation.NEW_Q, (), "staging"),
            (LINK, (31,), None),
            (Relation.NEW_Q, (), "uat"),
        ]


class TestFiller:
    @pytest.mark.parametrize("text", ["thanks!", "ok, thank you", "谢谢，辛苦了", "收到", "👍"])
    def test_asks_nothing_and_tells_nothing(self, text: str) -> None:
        assert decided(text).relation is Relation.IGNORE

    def test_thanks_with_a_fact_is_a_fact(self) -> None:
        text = "thanks! I tried it on staging with build 5512 and the total of the basket is wrong, 9.00"
        assert decided(text, thread=(12,)).relation is FACT


class TestAsking:
    def test_what_nobody_asks_yet_is_new(self) -> None:
        said = decided("Does the footer on staging show the opening hours?")
        assert (said.relation, said.target) == (Relation.NEW_Q, "staging")

    def test_a_known_wish_in_other_words_is_the_same_question(self) -> None:
        said = decided("Is the sum in the cart right on production if one uses a voucher?")
        assert (said.relation, said.links) == (LINK, (13,))

    @pytest.mark.parametrize(
        "text",
        [
            "Please check on staging:\n1. does the logo lead home?\n2. can one zoom the picture?",
            "请确认（staging）：①尺码表能否打开；②搜索是否忽略大小写",
            "can u print a receipt on staging? n does the wish list stay after logout?",
        ],
        ids=["list", "chinese", "chat"],
    )
    def test_two_wishes_are_split(self, text: str) -> None:
        said = decided(text)
        assert (said.relation, len(said.parts)) == (Relation.SPLIT_TO_N_Q, 2)
        assert all(part.text and part.relation for part in said.parts)

    def test_steps_to_one_question_are_no_split(self) -> None:
        said = decided(
            "1. open staging\n2. add a scarf\n3. press F5\n\nIs the scarf still there?", source="issue"
        )
        assert said.relation is Relation.NEW_Q

    def test_a_part_that_may_be_asked_already_is_unsure_and_a_plain_one_is_tied(self) -> None:
        said = decided(
            "Does the basket show the right total with a coupon on staging, and does the footer there open?"
        )
        assert said.relation is Relation.SPLIT_TO_N_Q
        assert said.parts[0].links == (12,)
        assert said.confidence < CERTAIN

    def test_one_wish_on_two_targets_is_split(self) -> None:
        said = decided("Does the newsletter box work on staging and on uat? An answer for each, please.")
        assert [part.target for part in said.parts] == ["staging", "uat"]


class TestWithoutTheExtra:
    @pytest.fixture(autouse=True)
    def _without(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(way, "_shipped_classifier", lambda: None)

    def test_what_is_plain_is_decided(self) -> None:
        assert decided("thanks!").relation is Relation.IGNORE
        assert decided("nightly 2026-03-01 password_reset staging", source="schedule").links == (20,)

    @pytest.mark.parametrize(
        ("text", "thread", "relation"),
        [
            ("Q-20 again please", (), LINK),
            ("any news?", (20,), LINK),
            ("Q-20: I cannot accept this", (), FACT),
            ("同意，可以关闭", (20,), FACT),
        ],
    )
    def test_what_names_its_question_and_plainly_repeats_or_judges_it_is_tied(
        self, text: str, thread: tuple[int, ...], relation: Relation
    ) -> None:
        assert (decided(text, thread=thread).relation, decided(text, thread=thread).links) == (
            relation,
            (20,),
        )

    def test_what_could_be_either_waits(self) -> None:
        assert decided("I cannot accept this, please rerun it", thread=(20,)).relation is None

    def test_all_else_waits_and_says_what_to_install(self) -> None:
        said = decided("Does the footer on staging show the opening hours?")
        assert said.relation is None
        assert "bughunt[intake]" in said.reason


def test_none_of_its_libraries_is_needed() -> None:
    code = (
        "import sys; sys.modules.update({name: None for name in ('sklearn', 'rapidfuzz', 'numpy', 'scipy')});"
        "from tests.tower.intake.making import decided;"
        "print(decided('thanks!').relation, decided('Is the footer right on staging?').relation)"
    )
    assert output(code) == "IGNORE None"


class _Model:
    def decide(self, message: Incoming, questions: object) -> Decision:
        return Decision(relation=LINK, links=(20,), confidence=0.6, step="model")


def test_a_model_is_asked_where_the_rules_cannot_tell() -> None:
    assert decide(Incoming(text="any news?"), QUESTIONS, model=_Model()).links == (20,)
    assert decide(Incoming(text="thanks!"), QUESTIONS, model=_Model()).relation is Relation.IGNORE


AWKWARD = (
    st.text() | st.text(alphabet="Q-12?？\n>①1.) 吗and") | st.from_regex(r"(Q-\d+ |RUN-\d+ |\n- |\? ){0,30}")
)


@settings(max_examples=150)
@given(
    text=AWKWARD, source=st.sampled_from(["", "ci", "schedule", "email"]), thread=st.sampled_from([(), (12,)])
)
def test_any_text_has_a_decision_that_holds_together(text: str, source: str, thread: tuple[int, ...]) -> None:
    message = Incoming(text=text, source=source, thread=thread)
    said = decide(message, QUESTIONS)
    assert said == decide(message, QUESTIONS)
    known = {question.id for question in QUESTIONS}
    assert 0 <= said.confidence <= 1
    assert said.reason
    assert {*said.links, *(link for part in said.parts for link in part.links)} <= known
    assert (said.relation in (LINK, FACT)) == bool(said.links)
    assert (said.relation is Relation.SPLIT_TO_N_Q) == (len(said.parts) >= 2)


@pytest.mark.parametrize(
    "text",
    [
        "\u202e" * 1000 + "hello",
        "\ufffd\x07" * 100_000,
        "🎉" * 60_000,
        "a" * 262_144,
        "Q-" * 100_000,
        "1. ? " * 50_000,
        "(" * 200_000,
        "测" * 80_000,
        "and is it " * 25_000,
    ],
    ids=["right_to_left", "control", "emoji", "letters", "numbers", "lists", "brackets", "chinese", "asks"],
)
def test_a_text_of_the_greatest_size_is_decided(text: str) -> None:
    assert decided(text).reason
