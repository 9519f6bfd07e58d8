"""Models as ONNX graphs, for programs without Python. Needs the package onnx: the extra `onnx` of this package.

A graph computes in double precision, like the engine; inputs and outputs are in single precision.

| Input | |
|---|---|
| `X` | rows of features in your units, single precision |
| `task` | the task of each row by name (strings or integers), if the model was fitted with one for each row |

| Output | |
|---|---|
| `prediction` | numbers, (rows,) or (rows, tasks) |
| `label`, `scores` | classes and scores of classifiers |
| `probabilities` | of classifiers, where `predict_proba` exists |
"""

from __future__ import annotations

import importlib
import json
import os
import struct
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _calibration, _recipe

OPSET = 18
ML_OPSET = 3


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"to_onnx needs the package {name}; the extra kinfolk[onnx] installs it") from error


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


class Graph:
    """Nodes and constants, with names that are used once."""

    def __init__(self) -> None:
        self.onnx = _module("onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.count = 0

    def name(self, what: str) -> str:
        self.count += 1
        return f"kinfolk_{what}_{self.count}"

    def constant(self, value: Any) -> str:
        name = self.name("constant")
        array = np.asarray(value)
        if array.dtype.kind in "UO":
            texts = [str(text).encode() for text in array.ravel().tolist()]
            kind = self.onnx.TensorProto.STRING
            self.constants.append(self.onnx.helper.make_tensor(name, kind, array.shape, texts))
        else:
            self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        out = self.name(op.lower())
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), [out], domain=domain, **attributes))
        return out

    def cast(self, value: str, kind: str) -> str:
        return self.add("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def input(self, name: str, kind: str, shape: list[Any]) -> str:
        info = self.onnx.helper.make_tensor_value_info(name, getattr(self.onnx.TensorProto, kind), shape)
        self.inputs.append(info)
        return name

    def output(self, name: str, value: str, kind: str, shape: list[Any]) -> None:
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        info = self.onnx.helper.make_tensor_value_info(name, getattr(self.onnx.TensorProto, kind), shape)
        self.outputs.append(info)

    def model(self, doc: str) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "kinfolk", self.inputs, self.outputs, self.constants, doc_string=doc)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, producer_name="kinfolk", opset_imports=opsets, ir_version=9)
        self.onnx.checker.check_model(model)
        return model


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
    """Positions of tasks by name, (rows, 1)."""
    names = estimator.tasks_.tolist()
    texts = isinstance(names[0], str)
    keys = {"keys_strings": names} if texts else {"keys_int64s": [int(name) for name in names]}
    places = {"values_int64s": list(range(len(names))), "default_int64": len(names)}
    index = graph.add("LabelEncoder", task, domain="ai.onnx.ml", **keys, **places)
    return graph.add("Reshape", index, graph.constant(np.asarray([-1, 1], np.int64)))


def _features(graph: Graph, estimator: Any, x: str) -> tuple[str, str | None]:
    """Features in double precision, and positions of the tasks of rows with a task column that is a number."""
    column = getattr(estimator, "task_column", None)
    width = estimator.n_features_in_
    if column is None:
        return graph.cast(x, "DOUBLE"), None
    names = getattr(estimator, "feature_names_in_", None)
    at = [*([] if names is None else names)].index(column) if isinstance(column, str) else int(column) % width
    if isinstance(estimator.tasks_.tolist()[0], str):
        return graph.cast(x, "DOUBLE"), None
    keep = graph.constant(np.asarray([i for i in range(width) if i != at], np.int64))
    own = graph.add("Gather", x, graph.constant(np.asarray([at], np.int64)), axis=1)
    flat = graph.add("Reshape", graph.cast(own, "INT64"), graph.constant(np.asarray([-1], np.int64)))
    return graph.cast(graph.add("Gather", x, keep, axis=1), "DOUBLE"), _task_index(graph, estimator, flat)


def build(estimator: Any, *, task_input: bool = True) -> Graph:
    """The graph of a fitted estimator."""
    check_is_fitted(estimator)
    if getattr(estimator, "_recipe", None) is not None:
        names = ", ".join(repr(name) for name in _recipe.not_numbers(estimator._recipe)[:5]) or "lists"
        why = f"ONNX has nothing for words, dates, lists or missing values of a frame; encode {names} before the fit"
        raise ValueError(f"to_onnx: {why}")
    graph = Graph()
    targets = getattr(estimator, "_targets", None)
    form = None if targets is None else targets.form
    width = estimator.n_features_in_
    in_column = getattr(estimator, "task_column", None) is not None and form == "rows"
    words = form == "rows" and isinstance(estimator.tasks_.tolist()[0], str)
    x = graph.input("X", "FLOAT", [None, width - 1 if in_column and words else width])
    x, index = _features(graph, estimator, x)
    if form == "rows" and index is None:
        if not task_input:
            raise ValueError("to_onnx: tasks are words; in a pipeline they must be numbers in a task column")
        index = _task_index(graph, estimator, graph.input("task", "STRING" if words else "INT64", [None]))
    scores = _scores(graph, estimator, x)
    if getattr(estimator, "classes_", None) is None:
        _number_outputs(graph, estimator, form, scores, index)
    else:
        _class_outputs(graph, estimator, form, scores, index)
    return graph


def _flat(graph: Graph, value: str) -> str:
    return graph.add("Reshape", value, graph.constant(np.asarray([-1], np.int64)))


def _number_outputs(graph: Graph, estimator: Any, form: Any, scores: str, index: str | None) -> None:
    if index is not None:
        scores = _flat(graph, graph.add("GatherElements", scores, index, axis=1))
    elif form == "single" or getattr(estimator, "_flat", False):
        scores = _flat(graph, scores)
    else:
        graph.output("prediction", graph.cast(scores, "FLOAT"), "FLOAT", [None, len(estimator.theta_names_)])
        return
    graph.output("prediction", graph.cast(scores, "FLOAT"), "FLOAT", [None])


def _class_outputs(graph: Graph, estimator: Any, form: Any, scores: str, index: str | None) -> None:
    targets = getattr(estimator, "_targets", None)
    if targets is not None and not (targets.one_output_each and isinstance(estimator.classes_, np.ndarray)):
        raise ValueError("to_onnx: tasks with more than two classes are not supported; OutputKernelClassifier is")
    sigmoids = getattr(estimator, "calibration_", None)
    if sigmoids is not None:
        scaled = graph.add("Mul", scores, graph.constant(sigmoids[None, :, 0]))
        scores = graph.add("Add", scaled, graph.constant(sigmoids[None, :, 1]))
    try:
        likely = _calibration.has_probabilities(estimator)
    except AttributeError:
        likely = False
    classes = estimator.classes_
    if classes.dtype.kind == "b":
        classes = classes.astype(np.int64)
    kind = "STRING" if classes.dtype.kind in "UO" else "INT64" if classes.dtype.kind in "iu" else "DOUBLE"
    classes = classes.astype(np.int64) if kind == "INT64" else classes
    n_outputs, one = len(estimator.theta_names_), graph.constant(np.asarray(1.0))
    if index is not None:
        scores = graph.add("GatherElements", scores, index, axis=1)
    elif targets is None and not estimator._multilabel and len(classes) == 2:
        half = graph.constant(np.asarray([[-0.5], [0.5]]))
        scores = graph.add("MatMul", scores, half)
    if targets is None and not estimator._multilabel and len(classes) > 2:
        best = graph.add("ArgMax", scores, axis=1, keepdims=0)
        label = graph.add("Gather", graph.constant(classes), best)
        if likely:
            yes = graph.add("Sigmoid", scores)
            total = graph.add("ReduceSum", yes, graph.constant(np.asarray([1], np.int64)), keepdims=1)
            graph.output("probabilities", graph.cast(graph.add("Div", yes, total), "FLOAT"), "FLOAT", [None, n_outputs])
        graph.output("label", label, kind, [None])
        graph.output("scores", graph.cast(scores, "FLOAT"), "FLOAT", [None, n_outputs])
        return
    positive = graph.cast(graph.add("Greater", scores, graph.constant(np.asarray(0.0))), "INT64")
    many = form == "wide" or (targets is None and estimator._multilabel)
    if targets is None and estimator._multilabel:
        label, kind = positive, "INT64"
    else:
        only = graph.constant(classes if len(classes) > 1 else np.repeat(classes, 2))
        label = graph.add("Gather", only, positive)
    shape: list[int | None] = [None, n_outputs] if many else [None]
    yes = graph.add("Sigmoid", scores)
    if likely and not many:
        both = graph.add("Concat", graph.add("Sub", one, yes), yes, axis=1)
        graph.output("probabilities", graph.cast(both, "FLOAT"), "FLOAT", [None, 2])
    elif likely:
        graph.output("probabilities", graph.cast(yes, "FLOAT"), "FLOAT", shape)
    graph.output("label", label if many else _flat(graph, label), kind, shape)
    graph.output("scores", graph.cast(scores if many else _flat(graph, scores), "FLOAT"), "FLOAT", shape)


class OnnxMixin:
    """Adds `to_onnx` to an estimator."""

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The model as an ONNX graph; also written to `path`. See `kinfolk._onnx` for its inputs and outputs."""
        model = build(self).model(f"{type(self).__name__}, fitted by kinfolk")
        if path is not None:
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
        return model


def register_skl2onnx() -> None:
    """Tells skl2onnx how to convert the estimators of this package, so that pipelines with them can be converted."""
    skl2onnx, shapes = _module("skl2onnx"), _module("skl2onnx.common.data_types")
    from . import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

    types = {
        "FLOAT": shapes.FloatTensorType,
        "DOUBLE": shapes.DoubleTensorType,
        "INT64": shapes.Int64TensorType,
        "STRING": shapes.StringTensorType,
    }

    def wanted(estimator: Any, graph: Graph) -> list[Any]:
        if not hasattr(estimator, "classes_"):
            return list(graph.outputs)
        named = {info.name: info for info in graph.outputs}
        return [named["label"], named.get("probabilities", named["scores"])]

    def shape(operator: Any) -> None:
        graph = build(operator.raw_operator, task_input=False)
        n = operator.inputs[0].type.shape[0]
        for variable, info in zip(operator.outputs, wanted(operator.raw_operator, graph), strict=False):
            dims = [n, *[d.dim_value for d in info.type.tensor_type.shape.dim[1:]]]
            kind = graph.onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type)
            variable.type = types[kind](dims)

    def convert(scope: Any, operator: Any, container: Any) -> None:
        estimator = operator.raw_operator
        graph = build(estimator, task_input=False)
        results = wanted(estimator, graph)
        names = {info.name: variable.full_name for info, variable in zip(results, operator.outputs, strict=False)}
        names["X"] = operator.inputs[0].full_name
        for tensor in graph.constants:
            fresh = graph.onnx.TensorProto()
            fresh.CopyFrom(tensor)
            fresh.name = names[tensor.name] = scope.get_unique_variable_name(tensor.name)
            container.initializers.append(fresh)
        for node in graph.nodes:
            for name in node.output:
                names.setdefault(name, scope.get_unique_variable_name(name))
            attributes = {a.name: graph.onnx.helper.get_attribute_value(a) for a in node.attribute}
            if node.domain:
                attributes["op_domain"] = node.domain
            container.add_node(
                node.op_type,
                [names[name] for name in node.input],
                [names[name] for name in node.output],
                op_version=ML_OPSET if node.domain else OPSET,
                name=scope.get_unique_operator_name(node.op_type),
                **attributes,
            )

    options = {"zipmap": [True, False], "nocl": [True, False], "output_class_labels": [False, True]}
    for cls in (MultiTaskRegressor, OutputKernelRegressor, MultiTaskClassifier, OutputKernelClassifier):
        more = {"options": options} if "Classifier" in cls.__name__ else {}
        skl2onnx.update_registered_converter(cls, f"Kinfolk{cls.__name__}", shape, convert, **more)
