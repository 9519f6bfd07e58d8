"""Classification in many tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from . import _calibration, _inputs, _native, _setup, _targets
from ._base import Prepared
from ._compat import available_if
from ._docs import documented
from ._multitask import MultiTask
from ._targets import Questions


@documented
class MultiTaskClassifier(ClassifierMixin, MultiTask):  # type: ignore[misc]
    """Classification in many related tasks, learned together with how they are related.

    A task of two classes is one row of `theta_`, one of more classes has a row for each of them.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import MultiTaskClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(80, 5)), np.repeat([3, 8], 40)
    >>> y = np.where(X @ [1.0, 2.0, 0.0, 0.0, 1.0] > 0, "yes", "no")
    >>> model = MultiTaskClassifier().fit(X, y, task=task)
    >>> model.predict(X[:2], task=[3, 8]).tolist() == y[:2].tolist()
    True
    """

    def __init__(
        self,
        C: Any = "auto",
        *,
        output: str = "power",
        k: int = 1,
        loss: Any = "auto",
        kernel: str = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: float = 1.0,
        scale: str = "none",
        method: str = "fmtl",
        method_params: Any = None,
        theta: Any = None,
        prior: Any = None,
        lam: float | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_passes: int = 1000,
        max_seconds: float | None = None,
        memory: Any = "4GB",
        class_weight: Any = None,
        calibrate: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        task_column: Any = None,
        keep_data: bool = True,
    ) -> None:
        self.C = C
        self.output = output
        self.k = k
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.scale = scale
        self.method = method
        self.method_params = method_params
        self.theta = theta
        self.prior = prior
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.memory = memory
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.task_column = task_column
        self.keep_data = keep_data

    def _encode(self, y: Any, task: np.ndarray | None) -> Questions:
        return _targets.classes(y, task)

    def _loss(self, text: str) -> str:
        text = "hinge" if text == "auto" else text
        _native.is_classification(text)  # an unknown name is an error
        return text

    def _prepare_checked(self, x: Any, y: Any, task: np.ndarray | None, sample_weight: Any) -> Prepared:
        work = super()._prepare_checked(x, y, task, sample_weight)
        classes = self._questions.classes
        assert classes is not None
        # Of a table too, if its columns have the same.
        same = all(np.array_equal(own, classes[0]) for own in classes)
        self.classes_: Any = classes if self._questions.form == "wide" and not same else np.unique(np.concatenate(classes))
        return work

    def _observations(self, x: Any, questions: Questions, weight: np.ndarray | None) -> Any:
        observations = super()._observations(x, questions, weight)
        if isinstance(self.class_weight, str):
            _setup.choice("class_weight", self.class_weight, ("balanced",))
            observations = observations.balanced()
        return observations

    def _weights(self, x: Any, y: Any, weight: Any) -> np.ndarray | None:
        each = super()._weights(x, y, weight)
        if self.class_weight is None or isinstance(self.class_weight, str):
            return each
        if not isinstance(self.class_weight, Mapping):
            raise TypeError(f"class_weight = {self.class_weight!r}: it must be a dictionary, 'balanced' or None")
        labels = _inputs.table(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            raise ValueError("class_weight: a dictionary is for one class per row; a table of labels can be 'balanced'")
        own = np.asarray([float(self.class_weight.get(label, 1.0)) for label in labels.ravel().tolist()])
        return own if each is None else own * each

    # --- probabilities ---

    def _finish(self, work: Prepared) -> None:
        if self.calibrate is not None:
            _setup.choice("calibrate", self.calibrate, ("sigmoid",))
            assert work.triples is not None
            self.calibration_ = _calibration.cross_fitted(self, work)

    @available_if(_calibration.is_wanted)
    def predict_proba(self, X: Any, task: Any = None) -> Any:
        """Probabilities of `classes_`. Where the labels were a table: (rows, tasks), that of the second class, if all tasks have the same
        two; else a list with an array for each task."""
        x, index = self._asked(X, task)
        check_is_fitted(self, "calibration_")
        scores = self._scores(x, None)
        if self._questions.form == "wide" and isinstance(self.classes_, np.ndarray) and len(self.classes_) == 2:
            return expit(scores)
        tables = [self._probabilities(expit(scores), t) for t in range(len(self.tasks_))]
        return tables if self._questions.form == "wide" else self._spread(tables, index, 0.0)

    def _probabilities(self, yes: np.ndarray, task: int) -> np.ndarray:
        """Of the classes of a task."""
        assert self._questions.classes is not None
        first, last = self._questions.first[task : task + 2]
        own, count = yes[:, first:last], len(self._questions.classes[task])
        if count == 1:
            return np.ones((len(yes), 1))
        if last - first == 1:
            return np.column_stack([1 - own[:, 0], own[:, 0]])
        return _calibration.normalised(own)

    # --- predicting ---

    def _spread(self, tables: list[np.ndarray], index: np.ndarray | None, empty: float) -> np.ndarray:
        """From columns of each task's classes to columns of all classes."""
        assert self._questions.classes is not None
        out = np.full((len(tables[0]), len(self.classes_)), empty)
        for t, table in enumerate(tables):
            rows = np.arange(len(table)) if index is None else np.flatnonzero(index == t)
            columns = np.searchsorted(self.classes_, self._questions.classes[t])
            out[np.ix_(rows, columns)] = table[rows]
        return out

    def _scores(self, x: Any, question: np.ndarray | None) -> np.ndarray:
        """Answers, as log-odds where there are probabilities: then both choose the same class."""
        answers, pairs = self._answers(x, question), getattr(self, "calibration_", None)
        if pairs is None:
            return answers
        return _calibration.log_odds(pairs if question is None else pairs[question], answers)

    def _class_scores(self, answers: np.ndarray, task: int) -> np.ndarray:
        """A score for each class of a task."""
        assert self._questions.classes is not None
        first, last = self._questions.first[task : task + 2]
        own, count = answers[:, first:last], len(self._questions.classes[task])
        return np.column_stack([-own[:, 0], own[:, 0]]) if last - first == 1 and count == 2 else own

    def decision_function(self, X: Any, task: Any = None) -> Any:
        """Scores; log-odds with `calibrate`. Two classes: one for each row, positive for the second. More: a column for each of
        `classes_`, -inf for those that the row's task does not have. A table of labels: a column for each task, or a list of such
        arrays where some have more classes."""
        x, index = self._asked(X, task)
        questions = self._questions
        if questions.form == "wide":
            scores = self._scores(x, None)
            if questions.one_each:
                return scores
            return [scores[:, a] if b - a == 1 else scores[:, a:b] for a, b in zip(questions.first, questions.first[1:], strict=False)]
        if len(self.classes_) <= 2:
            return self._scores(x, np.zeros(x.shape[0], np.uint32) if index is None else index)
        scores = self._scores(x, None)
        return self._spread([self._class_scores(scores, t) for t in range(len(questions.tasks))], index, -np.inf)

    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """Classes: of the task of each row, or (rows, tasks) where the labels were a table."""
        check_is_fitted(self)
        questions = self._questions
        if questions.form == "wide":
            x, _ = self._asked(X, task)
            scores = self._scores(x, None)
            assert questions.classes is not None
            columns = [own[self._best(scores, t)] for t, own in enumerate(questions.classes)]
            return np.column_stack(columns) if len({c.dtype.kind for c in columns}) == 1 else _mixed(columns)
        scores = self.decision_function(X, task)
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _best(self, answers: np.ndarray, task: int) -> np.ndarray:
        assert self._questions.classes is not None
        if len(self._questions.classes[task]) == 1:
            return np.zeros(len(answers), int)
        best: np.ndarray = self._class_scores(answers, task).argmax(axis=1)
        return best

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over all rows; of a table, the mean over its columns."""
        return self._mean_score(X, y, task, sample_weight)

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        # Lists forget that a column was part of a table of objects.
        return float(accuracy_score(truth.tolist(), guess.tolist(), sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _mixed(columns: list[np.ndarray]) -> np.ndarray:
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for t, column in enumerate(columns):
        table[:, t] = column
    return table
