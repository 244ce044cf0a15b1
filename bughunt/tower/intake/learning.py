"""What was learnt from labelled messages: which relation marks, references, likeness and words speak for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

__all__ = ["Classifier"]

Marks = Mapping[str, float]

_TEXT, _MARKS = 0, 1


class Classifier:
    """Tells the relation of a message. Deterministic: the same examples make the same classifier."""

    def __init__(self, texts: Sequence[str], marks: Sequence[Marks], labels: Sequence[str]) -> None:
        self._pipeline = _pipeline()
        self._pipeline.fit(_rows(texts, marks), list(labels))

    def chances(self, text: str, marks: Marks) -> dict[str, float]:
        """How likely each label is, the likeliest first."""
        chances = self._pipeline.predict_proba(_rows([text], [marks]))[0]
        known = zip(map(str, self._pipeline.classes_), map(float, chances), strict=True)
        return dict(sorted(known, key=lambda pair: -pair[1]))


def _rows(texts: Sequence[str], marks: Sequence[Marks]) -> Any:  # Any: an array of objects
    import numpy as np

    rows = np.empty((len(texts), 2), dtype=object)
    rows[:, _TEXT] = [text.lower()[:1500] for text in texts]
    rows[:, _MARKS] = list(marks)
    return rows


def _pipeline() -> Any:  # Any: scikit-learn ships no types
    words = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(1, 3), min_df=2, sublinear_tf=True, max_features=6000
    )
    marks = make_pipeline(DictVectorizer(), MaxAbsScaler())
    see = ColumnTransformer(
        [("words", words, _TEXT), ("marks", marks, _MARKS)],
        transformer_weights={"words": 1.0, "marks": 1.5},
        sparse_threshold=1.0,
    )
    return make_pipeline(see, LogisticRegression(C=6.0, max_iter=2000, class_weight="balanced"))
