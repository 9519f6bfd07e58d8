"""Warnings are at the line of the caller, however deep the call was."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from kinfolk import FarOffWarning, MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier


def test_warnings_are_at_the_line_of_the_caller(regression):
    d = regression
    frame = pd.DataFrame(d.X, columns=list("abcdef"))
    signs = np.where(d.y > 0, "yes", "no")
    model = MultiTaskRegressor(C=1.0).fit(frame, d.y, task=d.task)
    classes = MultiTaskClassifier(C=1.0).fit(d.X, signs, task=d.task)
    many = OutputKernelClassifier(C=1.0).fit(d.X, signs)
    search = MultiTaskCV(MultiTaskRegressor(), Cs=[1.0], param_grid={}, cv=2).fit(d.X, d.y, task=d.task)
    pipe = make_pipeline(MaxAbsScaler(), MultiTaskRegressor(C=1.0)).fit(d.X, d.y)
    far, short = 1e3 * d.X, MultiTaskRegressor(C=1e9, max_passes=1, solver="sdca", tol=1e-12)
    for call, kind in [
        (lambda: model.predict(1e3 * frame, task="task 0"), FarOffWarning),
        (lambda: model.score(1e3 * frame, d.y, task=d.task), FarOffWarning),
        (lambda: model.predict_interval(1e3 * frame, task="task 0"), FarOffWarning),
        (lambda: classes.predict(far, task=d.task), FarOffWarning),
        (lambda: classes.predict_log_proba(far, task=d.task), FarOffWarning),
        (lambda: many.predict(far), FarOffWarning),
        (lambda: search.predict(far, task=d.task), FarOffWarning),
        (lambda: pipe.predict(far), FarOffWarning),
        (lambda: short.fit(d.X, d.y, task=d.task), ConvergenceWarning),
        (lambda: cross_val_predict(short, d.X, d.y, cv=2), ConvergenceWarning),
        (lambda: MultiTaskRegressor(C=1.0).fit(frame.assign(g=d.y), d.y, task=d.task), UserWarning),
        (lambda: MultiTaskRegressor(C=1.0).fit(frame.assign(g=[f"n{i}" for i in range(100)]), d.y), UserWarning),
    ]:
        with pytest.warns(kind) as caught:
            call()
        places = {each.filename for each in caught if issubclass(each.category, kind)}
        assert places == {__file__}, (kind, places)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame, task=d.task)
