"""Many tasks: a table of labels, a task column, or a task for each row."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from . import _inputs, _targets
from ._base import Kinfolk, Prepared
from ._compat import with_callbacks
from ._files import Saved
from ._targets import Questions


class MultiTask(Saved, Kinfolk):
    """What classification and regression of many tasks share."""

    _questions: Questions

    # --- reading ---

    def _read(self, X: Any, task: Any, *, reset: bool) -> tuple[Any, np.ndarray | None]:
        """Features, and the tasks of rows where rows have one."""
        if self.task_column is not None and task is not None:
            raise ValueError("task and task_column say the same thing: give one of them")
        x, column = _inputs.checked(self, X, reset=reset, column=self.task_column)
        if column is None:
            column = task
        return x, None if column is None else _inputs.task_names(column, x.shape[0])

    def _encode(self, y: Any, task: np.ndarray | None) -> Questions:
        raise NotImplementedError

    def _losses(self, questions: Questions) -> list[str]:
        """One loss, or one for each question."""
        loss, tasks = self.loss, [str(name) for name in questions.tasks]
        if isinstance(loss, str):
            return [self._loss(loss)]
        if isinstance(loss, Mapping):
            known = {str(name): text for name, text in loss.items()}
            unknown = sorted(set(known) - set(tasks))
            if unknown:
                raise ValueError(f"loss: there is no task {unknown[0]!r}; the tasks are {', '.join(tasks[:10])}")
            of_task = [known.get(name, "auto") for name in tasks]
        elif isinstance(loss, Sequence) and all(isinstance(text, str) for text in loss):
            of_task = list(loss)
            if len(of_task) != len(tasks):
                raise ValueError(f"loss has length {len(of_task)}, expected one for each of {len(tasks)} tasks")
        else:
            raise TypeError(f"loss = {loss!r}: it must be a name, or a dictionary or list of names")
        each = [self._loss(text) for text in of_task]
        counts = np.diff(questions.first)
        return [text for text, count in zip(each, counts, strict=True) for _ in range(count)]

    def _loss(self, text: str) -> str:
        raise NotImplementedError

    # --- fitting ---

    @with_callbacks
    def fit(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> Self:
        """Learns all tasks together, and how they are related.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
            With `task_column`, one of its columns is the task.
        y : array of shape (rows,) or (rows, tasks)
            Labels. A table has one column for each task, with NaN where a label is missing; then all tasks share the inputs.
        task : array of shape (rows,), default=None
            The task of each row, by integer or string. Without it, and without a table, there is one task.
        sample_weight : array of shape (rows,), default=None
        """
        work = self._prepare(X, y, task, sample_weight)
        self._run(work)
        return self

    def _prepare(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> Prepared:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        x, names = self._read(X, task, reset=True)
        check_consistent_length(x, y)
        return self._prepare_checked(x, y, names, sample_weight)

    def _prepare_checked(self, x: Any, y: Any, task: np.ndarray | None, sample_weight: Any) -> Prepared:
        questions = self._encode(y, task)
        losses = self._losses(questions)
        weight = self._weights(x, y, sample_weight)
        observations = self._observations(x, questions, weight)
        triples = questions.triples
        self._questions = questions if self.keep_data else dataclasses.replace(questions, triples=None)
        self.tasks_ = questions.tasks
        self._data = (x, y, task, sample_weight) if self.keep_data else None
        return Prepared(x, observations, losses, questions.names, weight, triples, self._start(observations))

    def _observations(self, x: Any, questions: Questions, weight: np.ndarray | None) -> Any:
        observations = _targets.observations(x.shape[0], questions)
        if weight is not None:
            assert questions.triples is not None
            observations = observations.weighted(np.ascontiguousarray(weight[questions.triples.input]))
        return observations

    def _weights(self, x: Any, y: Any, weight: Any) -> np.ndarray | None:
        """One for each row."""
        if weight is None:
            return None
        each = _check_sample_weight(weight, x, dtype=np.float64)
        return np.ascontiguousarray(each)

    # --- more data ---

    @with_callbacks
    def add_task(self, X: Any, y: Any, name: Any) -> Self:
        """A new task joins: a fit of all tasks that starts from the duals of the last one.

        Parameters
        ----------
        X : array of shape (rows, features)
            Rows of the new task, without a task column.
        y : array of shape (rows,)
        name : int or str
            Its name, which no task has yet.
        """
        x, y0, task, weight = self._kept("add_task")
        form = self._questions.form
        if form == "single":
            raise ValueError("add_task: the model has one task without a name; fit with task=... or task_column=...")
        if weight is not None:
            raise ValueError("add_task: the fit had weights, and the new rows have none; fit anew")
        if str(name) in map(str, self._questions.tasks):
            raise ValueError(f"add_task: there is a task {name!r} already; update adds rows to it")
        new, y = self._features_only(X), _inputs.table(y)
        check_consistent_length(new, y)
        if form == "rows":
            assert task is not None
            names = _inputs.task_names([name] * new.shape[0], new.shape[0])
            if names.dtype.kind != task.dtype.kind:
                names, task = names.astype(str), task.astype(str)
            return self._more(x, new, np.concatenate([np.ravel(_inputs.table(y0)), np.ravel(y)]), np.concatenate([task, names]))
        above, below = self._stackable(y0), self._stackable(y.reshape(-1, 1))
        fill = None if above.dtype.kind == "O" else np.nan
        above = np.column_stack([above, np.full(len(above), fill, dtype=above.dtype)])
        below = np.column_stack([np.full((len(below), above.shape[1] - 1), fill, dtype=below.dtype), below])
        return self._more(x, new, _Named(np.vstack([above, below]), [*self._questions.tasks.tolist(), name]), None)

    @with_callbacks
    def update(self, X: Any, y: Any, task: Any = None) -> Self:
        """New rows of known tasks: a fit of all rows that starts from the duals of the last one. X, y and task are as for `fit`."""
        x, y0, old, weight = self._kept("update")
        if weight is not None:
            raise ValueError("update: the fit had weights, and the new rows have none; fit anew")
        new, names = self._read(X, task, reset=False)
        check_consistent_length(new, y)
        if (names is None) != (old is None):
            raise ValueError("update: the fit had a task for each row; give task=... or the task column")
        if names is not None:
            assert old is not None
            self._questions.find(names)
            names = np.concatenate([old, names.astype(old.dtype) if old.dtype.kind != "U" else names.astype(str)])
        if self._questions.form == "wide":
            tasks = self._questions.tasks
            if list(map(str, _targets.columns(y, len(tasks)))) != list(map(str, tasks)):
                raise ValueError("update: the columns of y are not those of the fit")
            both = np.vstack([self._stackable(y0), self._stackable(y)])
            return self._more(x, new, _Named(both, tasks.tolist()), None)
        return self._more(x, new, np.concatenate([np.ravel(_inputs.table(y0)), np.ravel(_inputs.table(y))]), names)

    def _stackable(self, y: Any) -> np.ndarray:
        """Labels of a table with room for missing ones."""
        table = _inputs.table(y)
        return _targets.as_numbers(table) if self._questions.classes is None else table.astype(object)

    def _kept(self, what: str) -> Any:
        check_is_fitted(self)
        data = getattr(self, "_data", None)
        if data is None:
            raise ValueError(f"{what}: the training data are not here (keep_data=False, or the model was loaded); fit anew")
        return data

    def _features_only(self, X: Any) -> Any:
        """Rows without a task column."""
        x = _inputs.features(self, X)
        width = json.loads(self.model_.about)["n_features"]
        if x.shape[1] != width:
            raise ValueError(f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {width} features as input")
        return x

    def _more(self, x: Any, new: Any, y: Any, task: np.ndarray | None) -> Self:
        if self.kernel == "precomputed":
            raise ValueError("more data with a precomputed kernel need a new matrix of all kernel values: fit anew")
        rows = _stacked(x, new)
        old, model, before = self._questions, self.model_, dict(self.__dict__)
        try:
            work = self._prepare_checked(rows, y, task, None)
            work.start = _carried(old, model.alpha, self._questions)
            self._run(work)
        except BaseException:
            if self.model_ is model:  # no new one: all is as it was
                self.__dict__.update(before)
            raise
        return self

    # --- predicting ---

    def _task_of_rows(self, x: Any, task: np.ndarray | None) -> np.ndarray:
        if task is None:
            raise ValueError("the model has several tasks: say which one each row belongs to, task=..., or in the task column")
        return self._questions.find(task)

    def _asked(self, X: Any, task: Any) -> tuple[Any, np.ndarray | None]:
        """Features, and the task of each row where the model wants one."""
        check_is_fitted(self)
        x, names = self._read(X, task, reset=False)
        if self._questions.form == "rows":
            return x, self._task_of_rows(x, names)
        if names is not None:
            raise ValueError("the model was fitted without a task for each row")
        return x, None

    def _answers(self, x: Any, question: np.ndarray | None) -> np.ndarray:
        """Of one question for each row, or of all."""
        native = self._native_inputs(x)
        scores: np.ndarray = (
            self.model_.predict_all(native) if question is None else self.model_.predict(native, question.astype(np.uint32))
        )
        return scores

    def score_per_task(self, X: Any, y: Any, task: Any = None) -> dict[Any, float]:
        """The score of each task by itself, NaN where it has fewer than two labels."""
        x, index = self._asked(X, task)
        prediction, truth = np.asarray(self.predict(X, task)), _inputs.table(y)
        if self._questions.form == "wide":
            return dict(zip(self.tasks_.tolist(), self._column_scores(truth, prediction, None), strict=True))
        truth, scores = np.ravel(truth), dict[Any, float]()
        for t, name in enumerate(self.tasks_.tolist()):
            own = np.ones(len(truth), dtype=bool) if index is None else index == t
            scores[name] = self._score(truth[own], prediction[own], None) if own.sum() > 1 else float("nan")
        return scores

    def _column_scores(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> list[float]:
        scores = []
        for t in range(truth.shape[1]):
            own = _inputs.known(truth[:, t])
            part = None if weight is None else weight[own]
            scores.append(self._score(truth[own, t], guess[own, t], part) if own.sum() > 1 else float("nan"))
        return scores

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        raise NotImplementedError

    def _mean_score(self, X: Any, y: Any, task: Any, sample_weight: Any) -> float:
        """What `score` says: those of scikit-learn's mixins know nothing of tasks."""
        prediction, truth = np.asarray(self.predict(X, task)), _inputs.table(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if self._questions.form != "wide":
            return self._score(np.ravel(truth), prediction, weight)
        scores = [score for score in self._column_scores(truth, prediction, weight) if np.isfinite(score)]
        return float(np.mean(scores)) if scores else float("nan")

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_data", None)
        if "_questions" in state:
            state["_questions"] = dataclasses.replace(state["_questions"], triples=None)
        return state


class _Named(np.ndarray):
    """A table whose columns have names."""

    columns: list[Any]

    def __new__(cls, table: np.ndarray, columns: list[Any]) -> _Named:
        named = table.view(cls)
        named.columns = columns
        return named


def _stacked(x: Any, new: Any) -> Any:
    """Old rows above new ones, of the kind of the old."""
    if sp.issparse(x):
        return sp.vstack([x, sp.csr_matrix(new)]).tocsr()
    return np.vstack([x, np.asarray(new.toarray() if sp.issparse(new) else new, dtype=x.dtype)])


def _carried(old: Questions, alpha: np.ndarray | None, new: Questions) -> np.ndarray | None:
    """Duals of the old observations where the new ones are the same, else zero. Old inputs are the first of the new ones."""
    if alpha is None or old.triples is None or new.triples is None:
        return None
    place = {str(name): q for q, name in enumerate(old.names)}
    question = np.asarray([place.get(str(name), -1) for name in new.names])[new.triples.question]
    key = old.triples.input.astype(np.int64) * len(old.names) + old.triples.question
    asked = new.triples.input.astype(np.int64) * len(old.names) + question
    order = np.argsort(key)
    found = order[np.minimum(np.searchsorted(key, asked, sorter=order), len(key) - 1)]
    return np.where((question >= 0) & (key[found] == asked), alpha[found], 0.0)
