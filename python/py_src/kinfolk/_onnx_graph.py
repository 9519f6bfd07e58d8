"""ONNX graphs: nodes and constants, and how numbers come in and go out."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

OPSET = 18
ML_OPSET = 3
KINDS = {"float32": "FLOAT", "float64": "DOUBLE"}
"""Types of numbers, as ONNX calls them."""
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Larger whole numbers cannot be told from their neighbours."""


def module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"to_onnx needs the package {name}; the extra kinfolk[onnx] installs it") from error


class Graph:
    """Nodes and constants, with names that are used once."""

    def __init__(self, kind: str) -> None:
        """`kind` is the type of the numbers that come in and go out; the graph computes in double precision."""
        self.onnx, self.kind = module("onnx"), kind
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

    def numbers(self, name: str, value: str, shape: list[Any]) -> None:
        """An output of numbers in double precision."""
        self.output(name, self.cast(value, self.kind), self.kind, shape)

    def flat(self, value: str) -> str:
        return self.add("Reshape", value, self.constant(np.asarray([-1], np.int64)))

    def model(self, doc: str) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "kinfolk", self.inputs, self.outputs, self.constants, doc_string=doc)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, producer_name="kinfolk", opset_imports=opsets, ir_version=9)
        self.onnx.checker.check_model(model)
        return model
