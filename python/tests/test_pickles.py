"""Pickles, and files of skops that need to trust one class."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from kinfolk import Atom, MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelRegressor


def models(d):
    names = np.unique(d.task)
    group = dict(zip(names, ["a", "a", "b", "b", "b"], strict=True))
    features = pd.DataFrame({"size": np.arange(5.0), "kind": [1, 2, 1, 2, 1]}, index=names)
    theta = pd.DataFrame(np.eye(5), index=names, columns=names)[names[::-1]]
    fixed = {"C": 1.0, "output": "fixed"}
    search = {"Cs": [1.0], "param_grid": {}, "cv": 3}
    return {
        "plain": MultiTaskRegressor(C=1.0),
        "classes": MultiTaskClassifier(C=1.0, calibrate="sigmoid"),
        "groups": MultiTaskRegressor(C=1.0, atoms={"group": group}),
        "atom": MultiTaskRegressor(C=1.0, atoms={"group": Atom(pd.Series(group), weight=3.0), "features": features}),
        "theta": MultiTaskRegressor(theta=theta, **fixed),
        "search": MultiTaskCV(MultiTaskRegressor(atoms={"group": Atom(group)}), **search),
        "scored": MultiTaskCV(MultiTaskClassifier(), scoring="accuracy", **search),
    }


@pytest.mark.parametrize("name", ["plain", "classes", "groups", "atom", "theta", "search", "scored"])
def test_skops_needs_one_trusted_type(regression, name):
    io = pytest.importorskip("skops.io")
    d = regression
    y = np.where(d.y > 0, "yes", "no") if name in ("classes", "scored") else d.y
    model = models(d)[name].fit(d.X, y, task=d.task)
    data = io.dumps(model)
    unknown = io.get_untrusted_types(data=data)
    kind = type(model)
    assert unknown == [f"{kind.__module__}.{kind.__name__}"]
    for loaded in (io.loads(data, trusted=unknown), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.predict(d.X, task=d.task), model.predict(d.X, task=d.task))
        assert repr(loaded) == repr(model)


def test_parameters_are_what_they_were(regression):
    d = regression
    for name in ("atom", "theta"):
        model = models(d)[name].fit(d.X, d.y, task=d.task)
        again = pickle.loads(pickle.dumps(model))
        if name == "theta":
            pd.testing.assert_frame_equal(again.theta, model.theta)
        else:
            pd.testing.assert_series_equal(again.atoms["group"].data, model.atoms["group"].data)
            pd.testing.assert_frame_equal(again.atoms["features"], model.atoms["features"])
            assert again.atoms["group"].weight == 3.0
        np.testing.assert_array_equal(clone(again).fit(d.X, d.y, task=d.task).theta_, model.theta_)
    named = np.where(d.task == "task 0", "kinfolk", d.task)  # a name that plain values of the package have, too
    groups = {"kinfolk": {name: name[0] for name in np.unique(named)}}
    model = MultiTaskRegressor(C=1.0, atoms=groups).fit(d.X, d.y, task=named)
    assert pickle.loads(pickle.dumps(model)).atoms == groups
    flat = pickle.loads(pickle.dumps(OutputKernelRegressor(C=1.0).fit(d.X, d.y)))
    assert flat.predict(d.X).shape == (100,)


class Shouting(MultiTaskRegressor):
    """A class of the user's."""


def test_searches_of_other_classes(regression):
    d = regression
    search = MultiTaskCV(Shouting(), Cs=[1.0], param_grid={}, cv=3).fit(d.X, d.y, task=d.task)
    again = pickle.loads(pickle.dumps(search))
    assert type(again.best_estimator_) is type(again.estimator) is Shouting
    np.testing.assert_array_equal(again.predict(d.X, task=d.task), search.predict(d.X, task=d.task))
