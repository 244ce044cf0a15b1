"""What was learnt from labelled messages: which relation marks, references, likeness and words speak for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

__all__ = ["Classifier", "Seen"]


class Seen(Struct, frozen=True, kw_only=True):
    """A message as the classifier sees it."""

    text: str
    marks: Mapping[str, float]


class Classifier:
    """Tells the relation of a message. Deterministic: the same examples make the same classifier."""

    def __init__(self, seen: Sequence[Seen], labels: Sequence[str]) -> None:
        self._pipeline = _pipeline()
        self._pipeline.fit(list(seen), list(labels))

    def chances(self, seen: Seen) -> dict[str, float]:
        """How likely each label is, the likeliest first."""
        chances = self._pipeline.predict_proba([seen])[0]
        known = zip(self._pipeline.classes_, map(float, chances), strict=True)
        return dict(sorted(known, key=lambda pair: -pair[1]))


def _pipeline() -> Any:  # Any: scikit-learn ships no types
    words = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), min_df=2, sublinear_tf=True, max_features=6000)
    return Pipeline(
        [
            (
                "see",
                FeatureUnion(
                    [
                        ("words", Pipeline([("text", FunctionTransformer(_texts)), ("count", words)])),
                        (
                            "marks",
                            Pipeline(
                                [
                                    ("marks", FunctionTransformer(_marks)),
                                    ("columns", DictVectorizer()),
                                    ("scale", MaxAbsScaler()),
                                ]
                            ),
                        ),
                    ],
                    transformer_weights={"words": 1.0, "marks": 1.5},
                ),
            ),
            ("weigh", LogisticRegression(C=6.0, max_iter=2000, class_weight="balanced")),
        ]
    )


def _texts(seen: Sequence[Seen]) -> list[str]:
    return [item.text.lower()[:1500] for item in seen]


def _marks(seen: Sequence[Seen]) -> list[Mapping[str, float]]:
    return [item.marks for item in seen]
