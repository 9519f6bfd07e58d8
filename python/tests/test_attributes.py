"""The section "Attributes" of every estimator lists its public fitted attributes, all of them and nothing else."""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import kinfolk

ESTIMATORS = [
    kinfolk.MultiTaskRegressor(C=1.0),
    kinfolk.MultiTaskClassifier(C=1.0, calibrate="sigmoid"),
    kinfolk.OutputKernelRegressor(C=1.0),
    kinfolk.OutputKernelClassifier(C=1.0, calibrate="sigmoid"),
    kinfolk.MultiTaskCV(kinfolk.MultiTaskClassifier(), Cs=[1.0], param_grid={}, cv=2, compare=True),
]


def attributes(documentation: str) -> dict[str, str]:
    """Names with what is said about them."""
    section = re.search(r"\nAttributes\n-+\n(.*?)\n+Examples\n-+\n", inspect.cleandoc(documentation), re.DOTALL)
    assert section is not None
    entries = re.findall(r"^(\w+) : .+\n((?: {4}.+\n?)*)", section.group(1), re.MULTILINE)
    return dict(entries)


def public(estimator) -> set[str]:
    names = [name for name in dir(estimator) if name.endswith("_") and not name.startswith("_")]
    return {name for name in names if hasattr(estimator, name)}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_every_attribute_is_documented_and_every_documented_one_is_there(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = estimator.fit(X, np.arange(40) % 2)
        own = public(fitted)
    described = attributes(type(estimator).__doc__)
    assert set(described) == own
    assert all(text.strip() for text in described.values())
    assert not public(type(estimator)()), "before a fit there are none"
