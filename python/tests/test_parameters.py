"""Parameters are written once: signature, documentation and what the engine is told come from the same fields."""

import dataclasses
import inspect
import json
import re

import pytest

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor, _native

ESTIMATORS = [MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)


@each_estimator
def test_signatures_are_explicit(estimator):
    parameters = inspect.signature(estimator).parameters
    assert list(parameters)[0] == "C" and sorted(parameters) == sorted(estimator().get_params())
    kinds = [parameter.kind for parameter in parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}
    for name, parameter in parameters.items():
        assert getattr(estimator(), name) == parameter.default
    assert estimator.__name__.startswith("MultiTask") == ("task_column" in parameters)
    assert estimator.__name__.endswith("Classifier") == ("class_weight" in parameters)


@each_estimator
def test_every_parameter_is_documented_with_its_default(estimator):
    text = inspect.getdoc(estimator)
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n--------\n")[0]
    found = dict(re.findall(r"^(\w+) : .*, default=(.*)$", section, re.MULTILINE))
    expected = {
        field.name: json.dumps(field.default) if isinstance(field.default, str) else repr(field.default)
        for field in dataclasses.fields(estimator)
    }
    assert found == expected
    assert not re.search(r"\{[a-z_]+\}", section), "a name in braces was not replaced"
    assert max(map(len, section.splitlines())) <= 200


@each_estimator
def test_documentation_lists_what_the_engine_has(estimator):
    engine, text = _native.describe(), " ".join(inspect.getdoc(estimator).split())
    for loss in engine["losses"]:
        assert loss["text"] in text
    for name in (*engine["kernels"], *engine["outputs"], *engine["solvers"], *engine["scalings"]):
        assert f'"{name.partition(":")[0]}"' in text
    for method in _native.methods():
        assert method["name"] in text


def test_losses_for_numbers_are_those_of_the_engine():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    for loss in _native.describe()["losses"]:
        model = MultiTaskRegressor(loss=loss["text"], C=1.0)
        if loss["classification"]:
            with pytest.raises(ValueError, match="the losses for numbers are squared, epsilon, squared_epsilon, huber"):
                model.fit(X, y)
        else:
            assert model.fit(X, y).predict(X).shape == (3,)
