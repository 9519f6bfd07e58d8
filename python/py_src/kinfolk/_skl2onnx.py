"""Estimators of this package in skl2onnx."""

from __future__ import annotations

from typing import Any

from ._onnx import build
from ._onnx_graph import ML_OPSET, OPSET, Graph, module


class _Operator:
    """An operator of skl2onnx, whose inputs are rows of numbers and, for some models, the task of each row."""

    def __init__(self, operator: Any, shapes: Any) -> None:
        self.estimator = operator.raw_operator
        texts = (shapes.StringTensorType, shapes.Int64TensorType)
        tasks = [each for each in operator.inputs if isinstance(each.type, texts)] if len(operator.inputs) > 1 else []
        self.task = tasks[0] if tasks else None
        self.x = next(each for each in operator.inputs if each is not self.task)
        dtype = "float64" if isinstance(self.x.type, shapes.DoubleTensorType) else "float32"
        self.graph: Graph = build(self.estimator, dtype, task_input=self.task is not None)
        if self.task is not None and "task" in [info.name for info in self.graph.inputs]:
            # skl2onnx has inputs of two dimensions.
            self.graph.nodes.insert(0, self._flat_task())

    def _flat_task(self) -> Any:
        shape = self.graph.constant([-1])
        return self.graph.onnx.helper.make_node("Reshape", ["kinfolk_task", shape], ["task"])

    def outputs(self) -> list[Any]:
        """Those that skl2onnx expects: the predictions, or labels and probabilities (scores, if there are none)."""
        if not hasattr(self.estimator, "classes_"):
            return list(self.graph.outputs)
        named = {info.name: info for info in self.graph.outputs}
        return [named["label"], named.get("probabilities", named["scores"])]


def register_skl2onnx() -> None:
    """Tells skl2onnx how to convert the estimators of this package, so that pipelines with them can be converted.

    A model that needs the task of each row has two inputs: rows of numbers, and the tasks, as in
    `initial_types=[("X", FloatTensorType([None, 4])), ("task", StringTensorType([None, 1]))]`. A task column of numbers
    is one of the columns of X."""
    skl2onnx, shapes = module("skl2onnx"), module("skl2onnx.common.data_types")
    parse: Any = module("skl2onnx._parse")
    from . import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

    types = {
        "FLOAT": shapes.FloatTensorType,
        "DOUBLE": shapes.DoubleTensorType,
        "INT64": shapes.Int64TensorType,
        "STRING": shapes.StringTensorType,
    }

    def shape(operator: Any) -> None:
        own = _Operator(operator, shapes)
        n = own.x.type.shape[0]
        for variable, info in zip(operator.outputs, own.outputs(), strict=False):
            dims = [n, *[d.dim_value for d in info.type.tensor_type.shape.dim[1:]]]
            kind = own.graph.onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type)
            variable.type = types[kind](dims)

    def convert(scope: Any, operator: Any, container: Any) -> None:
        own = _Operator(operator, shapes)
        graph = own.graph
        pairs = zip(own.outputs(), operator.outputs, strict=False)
        names = {info.name: variable.full_name for info, variable in pairs}
        names["X"] = own.x.full_name
        if own.task is not None:
            names["kinfolk_task"] = own.task.full_name
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

    def parse_best(scope: Any, search: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        options = scope.get_options(search)
        if options:
            scope.add_options(id(search.best_estimator_), options)
        return parse.parse_sklearn(scope, search.best_estimator_, inputs, custom_parsers=custom_parsers)

    options = {"zipmap": [True, False], "nocl": [True, False], "output_class_labels": [False, True]}
    for cls in (MultiTaskRegressor, OutputKernelRegressor, MultiTaskClassifier, OutputKernelClassifier):
        more: dict[str, Any] = {"options": options} if "Classifier" in cls.__name__ else {}
        skl2onnx.update_registered_converter(cls, f"Kinfolk{cls.__name__}", shape, convert, **more)
    more = {"options": options, "parser": parse_best}
    skl2onnx.update_registered_converter(MultiTaskCV, "KinfolkMultiTaskCV", shape, convert, **more)
