"""Parameters are documented once."""

from __future__ import annotations

from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])

SHARED = """\
C : float or "auto", default="auto"
        Weight of the losses against the regularisers. "auto" is the middle of the useful range for the data at hand, the same as the
        command's; a number is taken as it is. `C_` has what was used.
    output : {"power", "exp", "cosh", "fixed"}, default="power"
        Regulariser of the task matrix. "fixed" takes the matrix of `theta` instead of learning one.
    k : int, default=1
        For "power": the sum of |Theta|^p / 2 with p = 2k / (2k - 1). 1 is the Frobenius norm, larger is sparser.
    loss : str, default="auto"
        squared, hinge, squared_hinge, smoothed_hinge:GAMMA, logistic, epsilon:EPS, squared_epsilon:EPS, huber:DELTA, absolute or
        quantile:Q.{losses}
    kernel : {"linear", "rbf", "polynomial", "laplacian", "cosine", "precomputed"}, default="linear"
        Kernel of the inputs. With "precomputed", X is the square matrix of kernel values, and at prediction that of new with training
        inputs.
    gamma : float, "scale" or "auto", default="scale"
        Inverse width of rbf and laplacian, factor of polynomial: 1 / (features * variance), 1 / features, or a number.
    degree, coef0 : int and float, default=3 and 0
        Of the polynomial kernel.
    bias : float, default=1.0
        A constant feature that the tasks share like any other; 0 for none.
    scale : {"none", "standard", "unit"}, default="none"
        Scaling of the features, kept in the model: mean 0 and variance 1, or rows of length 1.
    method : str, default="fmtl"
        Another method of `kinfolk.methods()`, such as "stl" (independent tasks) or "mtl"; parameters in `method_params`, or as
        "mtl:mu=0.1".
    method_params : dict, default=None
        Parameters of the method.
    theta, prior : array of shape (tasks, tasks), default=None
        The task matrix for output="fixed"; one to start from, for "exp" and for "power" with k=1. In the order of `theta_names_`.
    lam : float, default=None
        Weight of the regulariser of the task matrix. Only one of C and lam matters for "power". None is 1, or what suits the data where
        C="auto" and the output is "exp" or "cosh".
    solver : str, default="auto"
        auto, sdca, sdca-sequential, spectral, newton, proximal, interior-point or admm.
    tol : float, default=1e-3
        Relative duality gap to reach. `rel_gap_` has the one reached.
    max_passes : int, default=1000
    max_seconds : float, default=None
        Limits; a fit that ends at one is a model with its true gap, and a ConvergenceWarning.
    memory : int or str, default="4GB"
        For kernel matrices and the like.
    random_state : int, RandomState or None, default=None
        Seed of every random choice. None is 0: fits are reproducible.
    n_jobs : int, default=None
        Threads. None and -1 are one for each core; None is one within worker processes of others.
    warm_start : bool, default=False
        Whether `fit` starts from the duals of the last fit, if the data have as many labels.
    verbose : int, default=0
        Whether to tell every certificate on the standard error stream."""

CLASSES = """

    class_weight : dict, "balanced" or None, default=None
        Weights of classes. "balanced" gives both answers to each question (task, or class) the same weight.
    calibrate : {"sigmoid"} or None, default=None
        Whether `predict_proba` is there: by a sigmoid of the scores for each question, fitted to scores of held-out rows. Scores are then
        log-odds, and predictions the classes of highest probability."""

TASKS = """

    task_column : str or int, default=None
        The column of X that says which task a row belongs to, by name or number: then pipelines, searches and scorers need to know nothing
        of tasks.
    keep_data : bool, default=True
        Whether to keep (not copy) the training data for `add_task` and `update`. They are not part of pickles."""


def documented(cls: Class) -> Class:
    """Puts the shared parameters into the class's documentation."""
    text = cls.__doc__ or ""
    name = cls.__name__
    losses = {
        "MultiTaskClassifier": ' "auto" is hinge. A dictionary or list has one for each task.',
        "MultiTaskRegressor": ' "auto" is squared. A dictionary or list has one for each task.',
    }.get(name, ' "auto" is squared.')
    parameters = SHARED.replace("{losses}", losses)
    if name.endswith("Classifier"):
        parameters += CLASSES
    if name.startswith("MultiTask"):
        parameters += TASKS
    cls.__doc__ = text.replace("{parameters}", parameters.replace("\n\n    ", "\n    "))
    return cls
