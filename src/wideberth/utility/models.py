"""A probe: how well simple models learn from a release what they would learn from the original.

A model sees a published label as what is expected under it, all values that it covers held equally
likely: of an interval the middle of its values, of a set or a node the share of each value, of a
missing value that it is missing. It is then asked about people of the original whom the other
model, the one of the original, did not see.

The release was made from everybody, those people included, so what it tells of them is learnt,
too. For groups of a few people or more that is little; but it is why a release can do a little
better here than it would for strangers.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import encode_as
from wideberth.core.exact import Floats, Ints
from wideberth.core.types import infer_type
from wideberth.errors import ParameterError, TableError
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.policy.spec import columns_named
from wideberth.policy.two_tables import read_if_path
from wideberth.principles.columns import require_column
from wideberth.utility.metrics.spans import covered_amounts, has_missing
from wideberth.utility.queries import ORIGINAL, RELEASE, encoded_alike, release_facts, require_read

#: More rows are not looked at.
MOST_ROWS = 50_000
#: With fewer, luck would tell more than the models.
LEAST_ROWS = 50
#: A category with more values than this is told by where it stands in their order.
_MOST_VALUES = 60
#: A number with more values than this is a quantity to be estimated, not a class.
_MOST_CLASSES = 20
_NUMERIC = ("integer", "float", "decimal")


@dataclass(frozen=True, kw_only=True)
class Score:
    """How well one kind of model does."""

    # "baseline" (the most frequent class, or the mean), "linear" (logistic regression, or ridge) or
    # "tree"
    model: str
    # Figures when trained on the original, or on the release: accuracy, balanced_accuracy and, of
    # two classes, auc; or r2 and mean_absolute_error.
    original: Mapping[str, float]
    release: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What models learn from a release, beside what they learn from the original.

    Parameters
    ----------
    target : str
        What is predicted.
    features : list of str
        From what.
    task : str
        "classification" or "regression".
    trained, tested : int
        The rows that models were trained on and tested on.
    scores : list of Score
        One each model.
    notes : list of str
        What a reader must know.
    """

    target: str
    features: list[str]
    task: str
    trained: int
    tested: int
    scores: list[Score]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, which knows no NaN."""
        return {
            "target": self.target,
            "features": self.features,
            "task": self.task,
            "trained": self.trained,
            "tested": self.tested,
            "scores": [
                {
                    "model": score.model,
                    "original": {k: _jsonable(v) for k, v in score.original.items()},
                    "release": {k: _jsonable(v) for k, v in score.release.items()},
                }
                for score in self.scores
            ],
            "notes": self.notes,
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        """Return one line a model."""
        lines = [f"{self.target} from {', '.join(self.features)}: {self.task}"]
        for score in self.scores:
            pairs = (
                f"{k} {score.original[k]:.3f} -> {score.release[k]:.3f}" for k in score.release
            )
            lines.append(f"{score.model}: " + ", ".join(pairs))
        return "\n".join(lines + [f"note: {note}" for note in self.notes])


def probe(
    release: object,
    original: object,
    *,
    target: str | None = None,
    features: str | Sequence[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    test: float = 0.3,
    seed: int = 0,
) -> Probe:
    """Train simple models on a release and on the original, and test both on the original.

    Parameters
    ----------
    release : Release, dataframe or path
        What was published: generalised quasi-identifiers, and the target.
    original : dataframe or path
        What it was made from.
    target : str, optional
        What is predicted; by default a `Release`'s first sensitive attribute.
    features : str or sequence of str, optional
        From what; by default a `Release`'s quasi-identifiers.
    hierarchies, types : mapping, optional
        Hierarchies and types of the features, to read generalised values by. The type of the
        target decides whether classes are told apart or a quantity is estimated.
    test : float
        The share of the original that is held out for the test.
    seed : int
        Equal seeds give equal results.

    Returns
    -------
    Probe

    Notes
    -----
    The model of the release has been trained on rows of the people that it is tested on, though
    generalised; that of the original has not. See the module's documentation.
    """
    _require_models()
    if (said := release_facts(release)) is not None:
        if said.second is not None:
            raise ParameterError(
                "an anatomised release does not say which row has which value",
                hint="ask for its query_error instead",
            )
        release, target = said.table, target or said.sensitive[0]
        features = features or said.quasi
        hierarchies, types = said.reading(hierarchies, types)
    if target is None or not features:
        raise ParameterError(
            "target and features must be named", hint='target="salary", features=["age", "zip"]'
        )
    if not 0 < test < 1:
        raise ParameterError("test must be a share between 0 and 1", hint="test=0.3")
    given = (release, original)
    frame, before = (io.adopt(read_if_path(table, None))[0] for table in given)
    names = [name for name in columns_named(features, before.columns) if name != target]
    for name in [*names, target]:
        require_column(before, name, ORIGINAL)
    require_column(frame, target, RELEASE)
    for table, where in ((frame, RELEASE), (before, ORIGINAL)):
        if table.height < LEAST_ROWS:
            raise TableError(
                f"{where} has {table.height:,} rows, too few to train and test models",
                hint=f"{LEAST_ROWS} rows at least",
            )
    published = PublishedBoxes.read(
        frame, names, original=before, hierarchies=hierarchies or {}, types=types or {}
    )
    require_read(published)
    goal = _Goal.of(before[target], frame[target], (types or {}).get(target))
    return _probed(published, goal, names, test, seed)


@dataclass(frozen=True, eq=False)
class _Goal:
    """What is predicted: of each row of the original and of the release, NaN where missing."""

    name: str
    classes: bool
    original: Floats
    release: Floats

    @classmethod
    def of(cls, known: pl.Series, published: pl.Series, kind: str | None) -> _Goal:
        kind = kind or infer_type(known)
        if kind in _NUMERIC:
            both = [encode_as(series.alias(known.name), kind) for series in (known, published)]
            if kind == "float" or both[0].domain.known > _MOST_CLASSES:
                numbers = [
                    np.append(column.domain.floats()[0][:, 0], np.nan)[column.codes]
                    for column in both
                ]
                return cls(known.name, False, *numbers)
        column, theirs = encoded_alike(known, published, RELEASE)
        of_code = np.arange(column.domain.size, dtype=np.float64)
        if column.domain.missing is not None:
            of_code[column.domain.missing] = np.nan
        return cls(known.name, True, of_code[column.codes], of_code[theirs])


def _probed(
    published: PublishedBoxes, goal: _Goal, names: list[str], test: float, seed: int
) -> Probe:
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(~np.isnan(values)) for values in (goal.original, goal.release)]
    own, theirs = (rng.permutation(some)[:MOST_ROWS] for some in rows)
    held = max(int(len(own) * test), 1)
    tested, trained = own[:held], own[held:]
    notes = ["the release also tells of the people that models are tested on"]
    if max(len(some) for some in rows) > MOST_ROWS:
        notes.append(f"{MOST_ROWS:,} rows were drawn at random, of the original and of the release")
    if goal.classes and len(np.unique(goal.original[trained])) < 2:
        raise TableError(
            f"'{goal.name}' has one value only: there is nothing to predict",
            hint="choose another target",
        )
    theirs = theirs[: len(trained)]  # as many as the other model gets
    learnt = {
        "original": (_exact(published, trained), goal.original[trained]),
        "release": (_expected(published, theirs), goal.release[theirs]),
    }
    asked, truth = _exact(published, tested), goal.original[tested]
    scores = []
    for name in ("baseline", "linear", "tree"):
        figures = {
            source: _score(_model(name, goal.classes, seed), *taught, asked, truth, goal.classes)
            for source, taught in learnt.items()
        }
        scores.append(Score(model=name, **figures))
    return Probe(
        target=goal.name,
        features=names,
        task="classification" if goal.classes else "regression",
        trained=len(trained),
        tested=len(tested),
        scores=scores,
        notes=notes,
    )


def _features(axis: PublishedQuasi) -> Floats:
    """Return what a model sees of each value of a quasi-identifier; the last row is for missing."""
    # A number is its distance from the mean, in standard deviations; a category of few values one
    # column each, of many its place in their order. One more column tells that a value is missing.
    many = len(axis.atoms)
    if not axis.numeric and many <= _MOST_VALUES:
        return np.eye(many + 1)
    assert axis.histogram is not None  # noqa: S101 - the original was read
    counts = axis.histogram[:-1]
    centre = np.average(axis.places, weights=counts)
    spread = np.sqrt(np.average((axis.places - centre) ** 2, weights=counts)) or 1.0
    seen = np.zeros((many + 1, 2))
    seen[:-1, 0] = (axis.places - centre) / spread
    seen[-1, 1] = 1.0
    return seen


def _exact(published: PublishedBoxes, rows: Ints) -> Floats:
    """Return what a model sees of rows of the original."""
    axes = [(axis, axis.points) for axis in published.axes if axis.points is not None]
    return np.hstack([_features(axis)[points[rows]] for axis, points in axes])


def _expected(published: PublishedBoxes, rows: Ints) -> Floats:
    """Return what a model sees of published rows."""
    parts = []
    for axis in published.axes:
        seen, counted = _features(axis), np.ones(len(axis.atoms) + 1)
        if not has_missing(axis):
            seen[-1], counted[-1] = 0.0, 0.0
        total = np.maximum(covered_amounts(axis, counted), 1.0)
        of_label = np.column_stack([covered_amounts(axis, column) / total for column in seen.T])
        parts.append(of_label[axis.labels[rows]])
    return np.hstack(parts)


def _model(name: str, classes: bool, seed: int) -> Any:
    from sklearn import dummy, linear_model, tree

    if name == "baseline":
        return dummy.DummyClassifier() if classes else dummy.DummyRegressor()
    if name == "linear":
        if classes:
            return linear_model.LogisticRegression(max_iter=100, tol=1e-3)
        return linear_model.Ridge()
    kind = tree.DecisionTreeClassifier if classes else tree.DecisionTreeRegressor
    return kind(max_depth=10, min_samples_leaf=10, random_state=seed)


def _score(
    model: Any, seen: Floats, values: Floats, asked: Floats, truth: Floats, classes: bool
) -> dict[str, float]:
    """Train a model, and compare what it says of others with what is true of them."""
    if classes and len(np.unique(values)) < 2:
        model = _model("baseline", classes, 0)  # others refuse to learn a single class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a model could be a little better is no news
        model.fit(seen, values)
    said = model.predict(asked)
    if not classes:
        wrong, spread = np.abs(said - truth), truth - truth.mean()
        most = float(spread @ spread)
        return {
            "r2": 1 - float(wrong @ wrong) / most if most else float("nan"),
            "mean_absolute_error": float(wrong.mean()),
        }
    hits = said == truth
    figures = {
        "accuracy": float(hits.mean()),
        "balanced_accuracy": float(
            np.mean([hits[truth == one].mean() for one in np.unique(truth)])
        ),
    }
    if truth.max() <= 1:  # two classes: 0 and 1
        figures["auc"] = _auc(model, asked, truth)
    return figures


def _auc(model: Any, asked: Floats, truth: Floats) -> float:
    """Return how likely somebody of the second class is held likelier to be so than another."""
    from sklearn.metrics import roc_auc_score

    if len(np.unique(truth)) < 2:
        return float("nan")
    chances = model.predict_proba(asked)
    second = np.flatnonzero(model.classes_ == 1)
    return float(roc_auc_score(truth, chances[:, second[0]])) if len(second) else 0.5


def _require_models() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise ParameterError(
            "the probe trains models, and scikit-learn is not installed",
            hint="pip install 'wideberth[models]'",
        ) from None


def _jsonable(number: float) -> float | None:
    return number if isfinite(number) else None
