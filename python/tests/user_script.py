"""A script that uses every public name, for type checkers: mypy --strict and pyright must be content with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import kinfolk
from kinfolk import (
    Atom,
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
    Statistics,
    load,
    methods,
    plot,
    register_skl2onnx,
)
from kinfolk.cluster import Engine, Recipe, ShardError, Source, Team, arrays, arrow, dask, fit, parquet, ray_dataset

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = X.sum(axis=1)
task = np.repeat(["ann", "bob"], 20)


def table() -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(who=task, plan=["x", "y"] * 20)


def regression(path: Path) -> float:
    model = MultiTaskRegressor(C=1.0, tol=1e-4, atoms={"all": Atom({"ann": "a", "bob": "a"}, weight=3.0)})
    model.fit(X, y, task=task, sample_weight=np.ones(40))
    guess: np.ndarray = model.predict(X, task="ann")
    gap: float = model.rel_gap_
    limits: tuple[float, float, float] = (model.primal_, model.dual_, model.dual_gap_)
    words: list[str | None] = [model.status_, model.claim_, model.solver_, model.scale_, *model.notes_]
    numbers: list[np.ndarray] = [model.theta_, model.task_correlation_, model.coef_, model.intercept_]
    numbers += [model.function_correlation_]
    numbers += [model.dual_coef_, model.task_gaps_, model.feature_importances_, model.trace_["gap"]]
    shares: dict[str, float] = model.atom_shares_
    clusters: dict[Any, int] = model.task_clusters(2)
    frames = [model.theta_frame_, model.coef_frame_, model.intercept_frame_, model.task_correlation_frame_]
    frames += [model.function_correlation_frame_]
    course: list[float | int | str | None] = [model.n_passes_, model.seconds_, model.reason_, model.remark_]
    course += [model.lam_, model.cv_score_]
    chosen: dict[str, Any] | None = model.auto_C_
    leaves: list[Any] = model.task_tree_["leaves"]
    names: list[Any] = [*model.theta_names_, *model.tasks_.tolist(), *leaves, *course, chosen, model.model_]
    low, high = model.predict_interval(X, task="ann", coverage=0.8)
    far: type[UserWarning] = kinfolk.FarOffWarning
    falls: dict[Any, dict[str, float]] = model.permutation_importance(X, y, task=task, n_repeats=2)
    inner: dict[str, Any] = model.set_params(tol=1e-3).get_params()
    labelled = MultiTaskRegressor(task_column="who", missing="median").fit(table(), y)
    columns: np.ndarray = labelled.feature_names_in_
    model.update(X, y, task=task).remove_task("bob").add_task(X, y, "cid")
    model.save(path)
    model.report(path.with_suffix(".html"), X, y, task="ann")
    pictures: list[Any] = [model.plot_theta(), model.plot_gap(against="passes"), model.plot_tree(n_clusters=1)]
    simpler: dict[str, dict[str, Any]] = model.baselines_
    names += [*pictures, *simpler, *model.baselines_frame_.index]
    again: MultiTaskRegressor = load(path)
    model.to_onnx(path)
    total = gap + sum(limits) + sum(shares.values()) + len(words) + len(numbers) + len(clusters) + len(frames)
    total += len(names) + len(inner) + len(columns) + float((high - low).sum())
    return total + float(guess.mean()) + again.score(X, y, task="ann") + float(model.C_) + float(model.n_features_in_)


def statistics(path: Path) -> float:
    first = Statistics(sample_rows=100, memory="1GB").update(X[:20], y[:20], task=task[:20])
    rest = Statistics().update_batches([(X[20:], y[20:], task[20:])])
    total: Statistics = Statistics.sum([first, rest.to_bytes()])
    total.save(path)
    same = Statistics.from_bytes(Statistics.load(path).copy().merge(Statistics()).to_bytes())
    model: MultiTaskRegressor = MultiTaskRegressor(C=1.0).fit_statistics(first + rest)
    model.certify_rows([(X, y, task)])
    frames = Statistics(target="c", task="who").of_batches()
    sizes: list[int] = [same.n_rows, same.n_features, same.nbytes, len(same.tasks)]
    return sum(sizes) + model.rel_gap_ + callable(frames)


def classification() -> float:
    model = MultiTaskClassifier(calibrate="sigmoid").partial_fit(X, y > 0, task=task)
    proba, log = model.predict_proba(X, task=task), model.predict_log_proba(X, task=task)
    classes: np.ndarray = model.classes_
    sigmoids: np.ndarray = model.calibration_
    score: np.ndarray = model.decision_function(X, task=task)
    per_task: dict[Any, float] = model.score_per_task(X, y > 0, task=task)
    many = OutputKernelClassifier().fit(X, np.arange(40) % 3)
    scores: np.ndarray = many.decision_function(X)
    digits: np.ndarray = many.classes_
    outputs = OutputKernelRegressor().fit(X, np.column_stack([y, -y]))
    values: np.ndarray = outputs.predict(X)
    low, high = outputs.predict_interval(X, coverage=0.8)
    found = (proba, log, scores, values, sigmoids, score, digits, high - low)
    return sum(float(each.sum()) for each in found) + len(classes) + len(per_task)


def choice(path: Path) -> float:
    search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], cv=3, compare=True).fit(X, y, task=task)
    best: float = search.best_score_
    params: dict[str, Any] = search.best_params_
    results: dict[str, Any] = search.cv_results_
    names: list[dict[str, Any]] = methods()
    where: tuple[int, int, float] = (search.best_index_, search.n_splits_, search.refit_time_)
    chosen: float | str = search.best_C_
    guess: np.ndarray = search.predict(X, task=task)
    several: bool = search.multimetric_
    best += search.score(X, y, task=task) + float(guess.sum()) + sum(where) + several + float(chosen)
    best += float(search.n_features_in_) + len(search.tasks_)
    compared: dict[str, dict[str, Any]] = search.comparison_
    best += len(compared) + len(search.comparison_frame_) + len(search.score_per_task(X, y, task=task))
    low, high = search.predict_interval(X, task="bob", coverage=0.5)
    pictures: list[Any] = [search.plot_theta(), search.plot_path(), search.plot_comparison("pooled")]
    search.update(X, y, task=task).add_task(X, y, "cid").remove_task("ann")
    search.save(path)
    search.report(path.with_suffix(".html"))
    search.to_onnx(path)
    best += len(pictures) + float((high - low).sum())
    register_skl2onnx()
    best += float(len(drawings(search)))
    return best + len(params) + len(results) + len(names) + len(kinfolk.__version__) + of_classes()


def drawings(search: MultiTaskCV) -> list[Any]:
    model: MultiTaskRegressor = search.best_estimator_
    found: list[Any] = [plot.theta_heatmap(model), plot.task_tree(model, n_clusters=2), plot.gap_curve(model)]
    found += [plot.path_plot(search), plot.comparison(search)]
    scores = model.score_per_task(X, y, task="bob")
    return [*found, plot.task_gain(scores, scores)]


def batches() -> list[Any]:
    import pyarrow as pa

    return list(pa.table({"a": X[:, 0], "b": y, "who": task.tolist()}).to_batches())


def shards(folder: Path) -> float:
    parts: Source = arrays([(X[:20], y[:20], task[:20]), (X[20:], y[20:], task[20:])])
    first: Recipe = parts.recipes[0]
    model: MultiTaskRegressor = fit(MultiTaskRegressor(C=1.0), parts, certify=False)
    lazy: Source = arrow([batches], target="b", task="who")
    problem: type[ValueError] = ShardError
    frames: list[Callable[..., Source]] = [dask, ray_dataset]
    fit(MultiTaskRegressor(C=1.0, loss="huber:1"), parts, engine=Here(), memory="1GB", listener=print)
    try:
        parquet(folder, target="b")
    except FileNotFoundError:
        return model.rel_gap_ + len(lazy.recipes) + len(first.fingerprint()) + len(problem.__name__) + len(frames)
    return 0.0


class Here(Engine):
    """An engine of one's own."""

    def start(self, make: Callable[[], Any], n_shards: int, timeout: float) -> Team:
        return Own(make())


class Own(Team):
    def __init__(self, worker: Any) -> None:
        self.worker = worker

    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        return (self.worker.answer(shard, question) for shard in shards)


def of_classes() -> float:
    search = MultiTaskCV(MultiTaskClassifier(), Cs=[1.0], param_grid={}, cv=2, scoring=["accuracy"], refit="accuracy")
    search.fit(table()[["a", "b", "c"]], y > 0, task=task)
    found: list[np.ndarray] = [search.predict_proba(X, task=task), search.predict_log_proba(X, task=task)]
    found += [search.decision_function(X, task=task)]
    return len(search.classes_) + len(search.feature_names_in_) + sum(float(each.sum()) for each in found)
