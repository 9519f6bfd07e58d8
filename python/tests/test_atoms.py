"""Known relations between tasks: by name, through the same door as the option --atom of the command."""

import json

import numpy as np
import pandas as pd
import pytest

import kinfolk
from kinfolk import Atom, MultiTaskCV, MultiTaskRegressor, OutputKernelRegressor

TASKS = ["ann", "bob", "cid", "dot", "eve", "fay"]
REGION = {"ann": "north", "bob": "south", "cid": "north", "dot": "south", "eve": "north", "fay": "south"}


@pytest.fixture(scope="module")
def shops():
    rng = np.random.default_rng(3)
    task = np.repeat(TASKS, 25)
    X = rng.normal(size=(150, 6))
    weight = {"north": rng.normal(size=6), "south": rng.normal(size=6)}
    y = np.asarray([x @ weight[REGION[t]] for x, t in zip(X, task)]) + 0.3 * rng.normal(size=150)
    return X, y, task


def spec_of(model):
    return json.loads(model.model_.spec)["atoms"]


def test_groups_in_any_form_are_the_same_fit(shops):
    X, y, task = shops
    shuffled = dict(reversed(REGION.items()))
    frame = pd.DataFrame({"task": list(REGION), "region": list(REGION.values())})
    forms = [
        REGION,
        shuffled,
        pd.Series(shuffled),
        frame,
        frame.set_index("task"),
        frame.sample(frac=1, random_state=1),
        Atom(REGION),
        Atom(REGION, "groups"),
        pd.Series(shuffled).astype("category"),
        {name: 7 if own == "north" else 3 for name, own in REGION.items()},
    ]
    fits = [MultiTaskRegressor(C=1.0, atoms={"region": form}).fit(X, y, task=task) for form in forms]
    for model in fits:
        np.testing.assert_array_equal(model.theta_, fits[0].theta_)
        assert model.atom_shares_["region"] > 0.3
    without = MultiTaskRegressor(C=1.0).fit(X, y, task=task)
    assert set(without.atom_shares_) == {"common", "own"}
    assert not np.allclose(without.theta_, fits[0].theta_)


def test_the_command_makes_the_same_fit_of_the_same_relation(shops, tmp_path):
    X, y, task = shops
    path = tmp_path / "regions.csv"
    pd.DataFrame({"task": list(REGION), "region": list(REGION.values())}).to_csv(path, index=False)
    by_file = MultiTaskRegressor(C=1.0, atoms={"region": f"groups={path}:region"}).fit(X, y, task=task)
    by_data = MultiTaskRegressor(C=1.0, atoms={"region": REGION}).fit(X, y, task=task)
    np.testing.assert_array_equal(by_file.theta_, by_data.theta_)
    assert spec_of(by_file)[0]["file"] == str(path)


def test_matrices_distances_features_trees_and_graphs(shops):
    X, y, task = shops
    same = pd.DataFrame([[float(REGION[a] == REGION[b]) for b in TASKS] for a in TASKS], TASKS, TASKS)
    place = pd.DataFrame({"x": [0.0, 9.0, 0.1, 9.1, 0.2, 9.2], "y": [1.0, 2.0, 1.1, 2.2, 1.2, 2.1]}, index=TASKS)
    edges = {("ann", "cid"): 1.0, ("cid", "eve"): 1.0, ("bob", "dot"): 1.0, ("dot", "fay"): 2.0}
    forms = {
        "matrix": same.loc[TASKS[::-1], TASKS[2:] + TASKS[:2]],  # rows and columns in other orders
        "features": place.iloc[::-1],
        "graph": edges,
        "distance": Atom(1.0 - same, "distance"),
        "tree": Atom({name: f"shop/{own}" for name, own in REGION.items()}, "tree"),
    }
    for kind, form in forms.items():
        model = MultiTaskRegressor(C=1.0, atoms={"known": form}).fit(X, y, task=task)
        assert spec_of(model)[0]["kind"] == kind
        assert model.atom_shares_["known"] > 0.2, kind
        assert model.task_correlation_frame_.loc["ann", "eve"] > model.task_correlation_frame_.loc["ann", "bob"]
    linear = MultiTaskRegressor(C=1.0, atoms={"known": Atom(place, kernel="linear", weight=3)}).fit(X, y, task=task)
    assert (spec_of(linear)[0]["kernel"], spec_of(linear)[0]["weight"]) == ("linear", 3.0)


def test_weights_are_given_or_searched(shops):
    X, y, task = shops
    share = [
        MultiTaskRegressor(C=1.0, atoms={"region": Atom(REGION, weight=w)}).fit(X, y, task=task).atom_shares_
        for w in (0, 1, 100)
    ]
    assert "region" not in share[0] or share[0]["region"] == 0
    assert share[1]["region"] < share[2]["region"]
    search = MultiTaskCV(MultiTaskRegressor(method="fmtl", atoms={"region": REGION}), cv=3).fit(X, y, task=task)
    tried = {row["method"] for row in search.cv_results_["params"]}
    assert len(tried) > 3 and all("atom.region=" in text for text in tried)
    assert search.best_estimator_.atom_shares_["region"] > 0.3
    plain = MultiTaskCV(MultiTaskRegressor(method="fmtl"), cv=3).fit(X, y, task=task)
    assert search.best_score_ >= plain.best_score_ - 0.01


def test_a_task_without_rows_borrows_from_its_group(shops, tmp_path):
    X, y, task = shops
    atoms = {"region": Atom(REGION | {"gus": "north", "zoe": "nowhere"}, weight=100)}
    model = MultiTaskRegressor(C=1.0, atoms=atoms).fit(X, y, task=task)
    guess = model.predict(X, task="gus")
    north, south = model.predict(X, task="ann"), model.predict(X, task="bob")
    assert np.corrcoef(guess, north)[0, 1] > 0.9 > 0.5 > np.corrcoef(guess, south)[0, 1]
    with pytest.raises(ValueError, match="task 'nobody' is unknown"):
        model.predict(X, task="nobody")
    model.save(tmp_path / "m.safetensors")
    loaded = kinfolk.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict(X, task="gus"), guess)
    assert spec_of(loaded) == spec_of(model)
    again = loaded.fit(X, y, task=task)
    np.testing.assert_array_equal(again.theta_, model.theta_)


def test_outputs_have_relations_too(shops):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = pd.DataFrame(X @ rng.normal(size=(3, 4)), columns=["a", "b", "c", "d"])
    model = OutputKernelRegressor(C=1.0, atoms={"pair": {"a": 1, "b": 1, "c": 2, "d": 2}}).fit(X, Y)
    assert "pair" in model.atom_shares_


def test_mistakes_are_named(shops):
    X, y, task = shops

    def wrong(expected, form, error=ValueError):
        with pytest.raises(error, match=expected):
            MultiTaskRegressor(C=1.0, atoms={"region": form}).fit(X, y, task=task)

    wrong(r"atoms\['region'\]: relations are given by the names of tasks", ["north"] * 6, TypeError)
    wrong(r"atoms\['region'\]: relations are given by the names of tasks", np.eye(6), TypeError)
    wrong(r"names none of the tasks of the data", {"x": "a", "y": "b"})
    wrong(r"atoms\['region'\]: the rows have no names of tasks", pd.DataFrame(np.ones((2, 3)), columns=list("abc")))
    other = pd.DataFrame(np.eye(2), ["a", "b"], ["a", "c"])
    wrong(r"rows and columns of a distance are the same tasks", Atom(other, "distance"))
    wrong(r"atoms\['region'\].kind = 'star'", Atom(REGION, "star"))
    wrong(r"atoms\['region'\].weight = -1", Atom(REGION, weight=-1))
    wrong(r"expected KIND=FILE", "regions.csv")
    wrong(r"the label of task 'ann' is missing", {**REGION, "ann": None})
    with pytest.raises(TypeError, match="atoms = .*: it must be a dictionary"):
        MultiTaskRegressor(atoms=[REGION]).fit(X, y, task=task)
    with pytest.raises(ValueError, match="stl|atoms"):
        MultiTaskRegressor(method="stl", atoms={"region": REGION}).fit(X, y, task=task)
