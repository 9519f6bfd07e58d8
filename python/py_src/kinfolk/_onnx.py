"""Models as ONNX graphs, for programs without Python. Needs the package onnx: the extra `onnx` of this package.

A graph computes in double precision, like the engine; inputs and outputs are in single precision, or with
`dtype="float64"` in double precision.

| Input | |
|---|---|
| `X` | rows of features in your units |
| `task` | the task of each row by name (strings or integers), if the model was fitted with one for each row |

If tasks are numbers in a column of X, they stay there. A task that is not known is an error of the program that runs
the graph.

| Output | |
|---|---|
| `prediction` | numbers, (rows,) or (rows, tasks) |
| `label`, `scores` | classes and scores of classifiers |
| `probabilities` | of classifiers, where `predict_proba` exists |

Where `predict_proba` and `decision_function` are lists with an array for each task, the outputs are these arrays side
by side, and if some of the classes are words and others numbers, labels are words.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _checks, _recipe
from ._onnx_classes import class_outputs
from ._onnx_graph import EXACT, KINDS, Graph


def tensors(model: Any) -> dict[str, np.ndarray]:
    """The arrays of a model file."""
    data = model.to_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    kinds = {"F64": np.float64, "F32": np.float32, "U32": np.uint32, "U64": np.uint64}
    found = {}
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] not in kinds:
            continue
        first, last = (8 + length + at for at in about["data_offsets"])
        found[name] = np.frombuffer(data[first:last], kinds[about["dtype"]]).reshape(about["shape"])
    return found


def _row_length(graph: Graph, x: str) -> str:
    """x with rows of length one; rows of zeros stay."""
    square = graph.add("ReduceSumSquare", x, graph.constant(np.asarray([1], np.int64)), keepdims=1)
    tiny = graph.constant(np.asarray([[np.finfo(float).tiny]]))
    return graph.add("Div", x, graph.add("Sqrt", graph.add("Max", square, tiny)))


def _scores(graph: Graph, estimator: Any, x: str) -> str:
    """Predictions of all outputs in the units of y, from rows in double precision."""
    about, parts = json.loads(estimator.model_.about), tensors(estimator.model_)
    kernel, kind, bias = about["kernel"], about["kernel"]["kind"], about.get("bias", 0.0)
    if kind == "precomputed":
        raise ValueError("to_onnx: a precomputed kernel has no features to compute it from")
    if about["scaling"] == "unit":
        x = _row_length(graph, x)
    if "scale_mean" in parts:
        x = graph.add("Sub", x, graph.constant(parts["scale_mean"][None, :]))
    if "scale_factor" in parts:
        x = graph.add("Mul", x, graph.constant(parts["scale_factor"][None, :]))
    if "weights" in parts:
        x, n = _row_length(graph, x) if kind == "cosine" else x, about["n_features"]
        weights, constant = parts["weights"][:n], bias * parts["weights"][n:].sum(axis=0)
    elif "support" in parts:
        x = _kernel_values(graph, kernel, kind, x, parts["support"].astype(np.float64))
        weights, constant = parts["coefficients"], bias**2 * parts["coefficients"].sum(axis=0)
    else:
        raise ValueError("to_onnx: kernel models of sparse inputs are not supported; fit on dense ones")
    constant = constant + parts.get("intercept", 0.0)
    # Labels were learned in units of their spread.
    spread = parts.get("target_scale", np.ones(len(constant)))
    constant = constant * spread + parts.get("target_centre", 0.0)
    constant[about.get("empty_tasks") or []] = np.nan  # nothing is known about them
    return graph.add("Add", graph.add("MatMul", x, graph.constant(weights * spread)), graph.constant(constant[None, :]))


def _kernel_values(graph: Graph, kernel: dict[str, Any], kind: str, x: str, support: np.ndarray) -> str:
    """Kernel values of rows with the support: (rows, support)."""
    gamma = float(kernel["gamma"])
    if kind == "laplacian":
        rows = graph.add("Unsqueeze", x, graph.constant(np.asarray([1], np.int64)))
        apart = graph.add("Abs", graph.add("Sub", rows, graph.constant(support[None])))
        distance = graph.add("ReduceSum", apart, graph.constant(np.asarray([2], np.int64)), keepdims=0)
        return graph.add("Exp", graph.add("Mul", distance, graph.constant(np.asarray(-gamma))))
    product = graph.add("MatMul", x, graph.constant(np.ascontiguousarray(support.T)))
    if kind == "polynomial":
        inner = graph.add("Mul", product, graph.constant(np.asarray(gamma)))
        inner = graph.add("Add", inner, graph.constant(np.asarray(float(kernel["coef0"]))))
        return graph.add("Pow", inner, graph.constant(np.asarray(float(kernel["degree"]))))
    square = graph.add("ReduceSumSquare", x, graph.constant(np.asarray([1], np.int64)), keepdims=1)
    both = graph.add("Add", square, graph.constant((support**2).sum(axis=1)[None, :]))
    distance = graph.add("Sub", both, graph.add("Mul", product, graph.constant(np.asarray(2.0))))
    distance = graph.add("Max", distance, graph.constant(np.asarray(0.0)))
    return graph.add("Exp", graph.add("Mul", distance, graph.constant(np.asarray(-gamma))))


def _task_index(graph: Graph, estimator: Any, task: str) -> str:
    """Positions of tasks by name; one that is not known has the position after the last."""
    names = estimator.tasks_.tolist()
    texts = isinstance(names[0], str)
    keys = {"keys_strings": names} if texts else {"keys_int64s": [int(name) for name in names]}
    places = {"values_int64s": list(range(len(names))), "default_int64": len(names)}
    return graph.add("LabelEncoder", task, domain="ai.onnx.ml", **keys, **places)


def _features(graph: Graph, estimator: Any, x: str) -> tuple[str, str | None]:
    """Features in double precision, and positions of the tasks of rows with a task column that is a number."""
    column = getattr(estimator, "task_column", None)
    width = estimator.n_features_in_
    if column is None:
        return graph.cast(x, "DOUBLE"), None
    names = getattr(estimator, "feature_names_in_", None)
    at = [*([] if names is None else names)].index(column) if isinstance(column, str) else int(column) % width
    tasks = estimator.tasks_.tolist()
    if isinstance(tasks[0], str):
        return graph.cast(x, "DOUBLE"), None
    large = next((task for task in tasks if abs(task) > EXACT[graph.kind]), None)
    if large is not None:
        cure = "dtype='float64'" if abs(large) <= EXACT["DOUBLE"] else "fit with task=... instead of task_column"
        raise ValueError(f"to_onnx: task {large} cannot be told from others as a number of X, {graph.kind}; {cure}")
    keep = graph.constant(np.asarray([i for i in range(width) if i != at], np.int64))
    own = graph.flat(graph.add("Gather", x, graph.constant(np.asarray([at], np.int64)), axis=1))
    whole = graph.cast(own, "INT64")
    is_whole = graph.add("Equal", own, graph.cast(whole, graph.kind))
    unknown = graph.constant(np.asarray(len(tasks), np.int64))
    index = graph.add("Where", is_whole, _task_index(graph, estimator, whole), unknown)
    return graph.cast(graph.add("Gather", x, keep, axis=1), "DOUBLE"), index


def build(estimator: Any, dtype: Any = "float32", *, task_input: bool = True) -> Graph:
    """The graph of a fitted estimator."""
    check_is_fitted(estimator)
    if getattr(estimator, "_recipe", None) is not None:
        names = ", ".join(repr(name) for name in _recipe.not_numbers(estimator._recipe)[:5]) or "lists"
        why = f"ONNX has nothing for words, dates, lists or missing values of a frame; encode {names} before the fit"
        raise ValueError(f"to_onnx: {why}")
    graph = Graph(KINDS[_checks.choice("dtype", dtype if isinstance(dtype, str) else np.dtype(dtype).name, [*KINDS])])
    targets = getattr(estimator, "_targets", None)
    form = None if targets is None else targets.form
    if form == "rows" and estimator.unknown_task != "error":
        raise ValueError("to_onnx: graphs have no unknown tasks; export after set_params(unknown_task='error')")
    width = estimator.n_features_in_
    in_column = getattr(estimator, "task_column", None) is not None and form == "rows"
    words = form == "rows" and isinstance(estimator.tasks_.tolist()[0], str)
    x = graph.input("X", graph.kind, [None, width - 1 if in_column and words else width])
    x, index = _features(graph, estimator, x)
    if form == "rows" and index is None:
        if not task_input:
            raise ValueError(
                "to_onnx: the model needs the task of each row; give skl2onnx a second input, of strings or integers, "
                "or fit with a task column of numbers"
            )
        index = _task_index(graph, estimator, graph.input("task", "STRING" if words else "INT64", [None]))
    scores = _scores(graph, estimator, x)
    if getattr(estimator, "classes_", None) is None:
        _number_outputs(graph, estimator, form, scores, index)
    else:
        empty = json.loads(estimator.model_.about).get("empty_tasks")
        if empty:
            name = estimator.theta_names_[empty[0]]
            raise ValueError(f"to_onnx: {name!r} had no labels in training; leave it out of y")
        class_outputs(graph, estimator, scores, index)
    return graph


def _number_outputs(graph: Graph, estimator: Any, form: Any, scores: str, index: str | None) -> None:
    if index is not None:
        rows = graph.add("Unsqueeze", index, graph.constant(np.asarray([1], np.int64)))
        scores = graph.flat(graph.add("GatherElements", scores, rows, axis=1))
    elif form == "single" or getattr(estimator, "_flat", False):
        scores = graph.flat(scores)
    else:
        graph.numbers("prediction", scores, [None, len(estimator.theta_names_)])
        return
    graph.numbers("prediction", scores, [None])


class OnnxMixin:
    """Adds `to_onnx` to an estimator."""

    def to_onnx(self, path: str | os.PathLike[str] | None = None, dtype: str = "float32") -> Any:
        """The model as an ONNX graph; also written to `path`. Numbers come in and go out as `dtype`: "float32", or
        "float64" for features that single precision cannot hold. See `kinfolk._onnx` for inputs and outputs."""
        model = build(self, dtype).model(f"{type(self).__name__}, fitted by kinfolk")
        if path is not None:
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
        return model
