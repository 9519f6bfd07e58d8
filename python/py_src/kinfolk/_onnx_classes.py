"""Classes in ONNX graphs: labels, scores and probabilities, as `predict` and its relatives give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _calibration
from ._onnx_graph import Graph


def class_outputs(graph: Graph, estimator: Any, scores: str, index: str | None) -> None:
    """Adds the outputs of a classifier. `index` are positions of the tasks of rows, if they have tasks."""
    targets: Any = getattr(estimator, "_targets", None)
    sigmoids = getattr(estimator, "calibration_", None)
    if estimator._sign < 0:
        scores = graph.add("Neg", scores)
    if sigmoids is not None:
        scaled = graph.add("Mul", scores, graph.constant(sigmoids[None, :, 0]))
        scores = graph.add("Add", scaled, graph.constant(sigmoids[None, :, 1]))
    wide = targets is not None and targets.form == "wide"
    if targets is None and estimator._multilabel:
        _table(graph, estimator, scores, None)
    elif wide and targets.one_output_each and isinstance(estimator.classes_, np.ndarray):
        _table(graph, estimator, scores, estimator.classes_)
    elif wide:
        _tables(graph, estimator, scores)
    elif len(estimator.classes_) == 2:
        _two_classes(graph, estimator, scores, index)
    else:
        _many_classes(graph, estimator, scores, index)


def _is_likely(estimator: Any) -> bool:
    try:
        return _calibration.has_probabilities(estimator)
    except AttributeError:
        return False


def _constants(classes: np.ndarray) -> tuple[np.ndarray, str]:
    """Classes in a type that ONNX has, and its name."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64), "INT64"
    return classes, "DOUBLE" if classes.dtype.kind == "f" else "STRING"


def _chosen(graph: Graph, classes: np.ndarray, position: str) -> tuple[str, str]:
    """The class at each position, and its type."""
    values, kind = _constants(classes)
    return graph.add("Gather", graph.constant(values), position), kind


def _is_positive(graph: Graph, scores: str) -> str:
    return graph.cast(graph.add("Greater", scores, graph.constant(np.asarray(0.0))), "INT64")


def _table(graph: Graph, estimator: Any, scores: str, classes: np.ndarray | None) -> None:
    """A column for each task, whose two classes are the same; without classes 0 and 1."""
    shape, label, kind = [None, len(estimator.theta_names_)], _is_positive(graph, scores), "INT64"
    if classes is not None:
        both = classes if len(classes) > 1 else np.repeat(classes, 2)
        label, kind = _chosen(graph, both, label)
    if _is_likely(estimator):
        graph.numbers("probabilities", graph.add("Sigmoid", scores), shape)
    graph.output("label", label, kind, shape)
    graph.numbers("scores", scores, shape)


def _two_classes(graph: Graph, estimator: Any, scores: str, index: str | None) -> None:
    """One score for each row."""
    if index is not None:
        rows = graph.add("Unsqueeze", index, graph.constant(np.asarray([1], np.int64)))
        scores = graph.add("GatherElements", scores, rows, axis=1)
    elif not hasattr(estimator, "_targets"):  # each class has a score
        scores = graph.add("MatMul", scores, graph.constant(np.asarray([[-0.5], [0.5]])))
    label, kind = _chosen(graph, estimator.classes_, graph.flat(_is_positive(graph, scores)))
    if _is_likely(estimator):
        yes = graph.add("Sigmoid", scores)
        both = graph.add("Concat", graph.add("Sub", graph.constant(np.asarray(1.0)), yes), yes, axis=1)
        graph.numbers("probabilities", both, [None, 2])
    graph.output("label", label, kind, [None])
    graph.numbers("scores", graph.flat(scores), [None])


@dataclass
class _Columns:
    """Scores and probabilities of classes, as columns of matrices that have all of them."""

    scores: str
    """Scores of outputs, their negatives, and -inf."""
    chances: str
    """Probabilities of outputs, of their opposites, 0 and 1."""
    n_outputs: int

    @classmethod
    def of(cls, graph: Graph, scores: str, n: int) -> _Columns:
        signs = np.hstack([np.eye(n), -np.eye(n), np.zeros((n, 2))])

        def columns(values: str, constants: list[float]) -> str:
            product = graph.add("MatMul", values, graph.constant(signs[:, : n + n + len(constants) - 1]))
            after = np.concatenate([np.zeros(n), np.full(n, constants[0]), constants[1:]])
            return graph.add("Add", product, graph.constant(after[None, :]))

        return cls(columns(scores, [0.0, -np.inf]), columns(graph.add("Sigmoid", scores), [1.0, 0.0, 1.0]), n)

    def places(self, targets: Any, task: int, classes: np.ndarray) -> tuple[list[int], list[int]]:
        """The columns of these classes for a task: of scores, and of probabilities."""
        first, last = targets.first_output[task : task + 2]
        own, nowhere = targets.classes[task].tolist(), 2 * self.n_outputs
        found = []
        for value in classes.tolist():
            if value not in own:
                found.append((nowhere, nowhere))
            elif len(own) == 1:
                found.append((first, nowhere + 1))
            elif last - first == 1:
                place = first if own.index(value) else self.n_outputs + first
                found.append((place, place))
            else:
                found.append((first + own.index(value),) * 2)
        return [int(at) for at, _ in found], [int(at) for _, at in found]


def _shares(graph: Graph, chances: str, uniform: str) -> str:
    """Probabilities of classes against the others, divided by their sum; `uniform` ones where all are zero."""
    total = graph.add("ReduceSum", chances, graph.constant(np.asarray([1], np.int64)), keepdims=1)
    zero, one = graph.constant(np.asarray(0.0)), graph.constant(np.asarray(1.0))
    some = graph.add("Greater", total, zero)
    return graph.add("Where", some, graph.add("Div", chances, graph.add("Where", some, total, one)), uniform)


def _of_classes(graph: Graph, scores: str, exponent: float) -> str:
    """The same from scores, with probabilities to this power: -ln(1 + exp(-score)) is their logarithm."""
    # Softplus is not there in double precision: max(0, -score) + ln(1 + exp(-|score|)).
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", scores)))
    rest = graph.add("Log", graph.add("Add", small, graph.constant(np.asarray(1.0))))
    losses = graph.add("Add", graph.add("Relu", graph.add("Neg", scores)), rest)
    powers = graph.add("Mul", losses, graph.constant(np.asarray(-exponent)))
    return graph.add("Softmax", powers, axis=1)


def _many_classes(graph: Graph, estimator: Any, scores: str, index: str | None) -> None:
    """A score for each class, -inf for those that the task of the row does not have."""
    classes, targets = estimator.classes_, getattr(estimator, "_targets", None)
    if targets is None:  # classes are tasks
        likely = _of_classes(graph, scores, _calibration.class_exponent(estimator)) if _is_likely(estimator) else None
        _add_outputs(graph, classes, scores, likely)
        return
    columns = _Columns.of(graph, scores, len(estimator.theta_names_))
    places = [columns.places(targets, t, classes) for t in range(len(targets.tasks))]
    there = np.asarray([np.isin(classes, own) for own in targets.classes], dtype=float)
    tables = [np.asarray([own for own, _ in places]), np.asarray([own for _, own in places])]
    even = there / there.sum(axis=1, keepdims=True)
    if index is None:
        parts = zip((columns.scores, columns.chances), tables, strict=True)
        own, chances = (graph.add("Gather", all_, graph.constant(at[0]), axis=1) for all_, at in parts)
        uniform = graph.constant(even[:1])
    else:
        at_scores, at_chances = (graph.add("Gather", graph.constant(table), index) for table in tables)
        own = graph.add("GatherElements", columns.scores, at_scores, axis=1)
        chances = graph.add("GatherElements", columns.chances, at_chances, axis=1)
        uniform = graph.add("Gather", graph.constant(even), index)
    _add_outputs(graph, classes, own, _shares(graph, chances, uniform) if _is_likely(estimator) else None)


def _add_outputs(graph: Graph, classes: np.ndarray, scores: str, probabilities: str | None) -> None:
    """The class of the highest score, the scores, and probabilities if there are any."""
    shape = [None, len(classes)]
    label, kind = _chosen(graph, classes, graph.add("ArgMax", scores, axis=1, keepdims=0))
    if probabilities is not None:
        graph.numbers("probabilities", probabilities, shape)
    graph.output("label", label, kind, [None])
    one_score = len(classes) == 1
    graph.numbers("scores", graph.flat(scores) if one_score else scores, [None] if one_score else shape)


def _tables(graph: Graph, estimator: Any, scores: str) -> None:
    """Columns of a table that differ in their classes, side by side."""
    targets, n_outputs = estimator._targets, len(estimator.theta_names_)
    columns = _Columns.of(graph, scores, n_outputs)
    words = len({_constants(own)[1] for own in targets.classes}) > 1
    labels, parts, kind = [], [], ""
    for t, classes in enumerate(targets.classes):
        at_scores, at_chances = columns.places(targets, t, classes)
        own = graph.add("Gather", columns.scores, graph.constant(np.asarray(at_scores)), axis=1)
        best = graph.add("ArgMax", own, axis=1, keepdims=1)
        label, kind = _chosen(graph, classes.astype(str) if words else classes, best)
        labels.append(label)
        chances = graph.add("Gather", columns.chances, graph.constant(np.asarray(at_chances)), axis=1)
        parts.append(_shares(graph, chances, graph.constant(np.full((1, len(classes)), 1 / len(classes)))))
    if _is_likely(estimator):
        total = sum(map(len, targets.classes))
        graph.numbers("probabilities", graph.add("Concat", *parts, axis=1), [None, total])
    graph.output("label", graph.add("Concat", *labels, axis=1), kind, [None, len(labels)])
    graph.numbers("scores", scores, [None, n_outputs])
