"""The parameters of all estimators, each written once: type, default, meaning, and its place in the specification.

The fields of these data classes become the signature of `__init__`, the section "Parameters" of the documentation
(`documented`) and the specification of a fit for the engine (`specification`). A new parameter is one new field here.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from . import _atoms, _attributes, _checks, _native, _recipe
from ._checks import choice, number, whole
from ._engine import ENGINE
from ._method import method_text, own_parameters

Class = TypeVar("Class", bound=type[Any])
Value = TypeVar("Value")
Convert = Callable[..., Any]
"""From an estimator and the name of a parameter to its value in the specification."""


UNKNOWN_TASK = ("error", "mean")


def parameter(
    default: Value, types: str, doc: str, *, key: str = "", convert: Convert | None = None, by_task: bool = False
) -> Value:
    """A field with its documentation. `key` is its place in the specification, where it has one, and `convert` its
    value there, which depends on the names of the tasks too if it is `by_task`."""
    metadata = {"types": types, "doc": doc, "key": key, "convert": convert or getattr, "by_task": by_task}
    field: Value = dataclasses.field(default=default, metadata=metadata)
    return field


def _flag(estimator: Any, name: str) -> bool:
    return _checks.flag(name, getattr(estimator, name))


def _one_of(*words: str) -> Convert:
    """A parameter that is one of these words."""
    return lambda estimator, name: choice(name, getattr(estimator, name), words)


def _verbose(estimator: Any, name: str) -> bool | int:
    value: Any = getattr(estimator, name)
    return value if isinstance(value, bool) else whole(name, value, 0)


def _positive(estimator: Any, name: str) -> float | None:
    return number(name, getattr(estimator, name))


def _positive_or_none(estimator: Any, name: str) -> float | None:
    return None if getattr(estimator, name) is None else _positive(estimator, name)


def _kernel(estimator: Any, name: str) -> str | None:
    """The kernel with those of gamma, degree and coef0 that it has, as in polynomial:3,scale,0.0; None if it is left
    to the data."""
    if estimator.kernel == "auto":
        return None
    text = "polynomial" if estimator.kernel == "poly" else estimator.kernel
    if isinstance(text, str) and ":" in text:
        return text
    templates = {template.partition(":")[0]: template for template in ENGINE["kernels"]}
    kernel = choice(name, text, [*templates, "auto"])
    if "scale" not in templates[kernel]:
        return kernel
    gamma = _gamma(estimator, "gamma")
    if "," not in templates[kernel]:
        return f"{kernel}:{gamma}"
    return f"{kernel}:{_degree(estimator, 'degree')},{gamma},{_not_negative(estimator, 'coef0')}"


def _gamma(estimator: Any, name: str) -> float | str:
    value = estimator.gamma
    return choice(name, value, ("scale", "auto")) if isinstance(value, str) else number(name, value)


def _degree(estimator: Any, name: str) -> int:
    return whole(name, estimator.degree, 1)


def _not_negative(estimator: Any, name: str) -> float:
    return number(name, getattr(estimator, name), zero=True)


def _class_weight(estimator: Any, name: str) -> str | None:
    """Weights that the engine computes; those of a dictionary are weights of rows."""
    value = estimator.class_weight
    if value is None or isinstance(value, Mapping):
        return None
    if not isinstance(value, str):
        raise TypeError(f"class_weight = {value!r}: it must be a dictionary, 'balanced' or None")
    return choice(name, value, ("balanced",))


def _intercept(estimator: Any, name: str) -> str | None:
    """None if it is left to the data."""
    value = estimator.intercept
    if value == "auto":
        return None
    kind, colon, size = value.partition(":") if isinstance(value, str) else ("", "", "")
    if colon and kind in ("shrunk", "ridge"):
        try:
            return f"{kind}:{number(name, float(size))!r}"
        except ValueError:
            raise ValueError(f"intercept = {value!r}: it must be {kind}: and a positive number") from None
    return choice(name, value, ("auto", "free", "none", "shrunk:K", "ridge:B"))


def _memory(estimator: Any, name: str) -> int | str:
    """Bytes, or a text that the engine reads."""
    return estimator.memory if isinstance(estimator.memory, str) else whole(name, estimator.memory, 1)


def _device(estimator: Any, name: str) -> str:
    """A text that the engine reads."""
    if not isinstance(estimator.device, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", estimator.device):
        raise ValueError(f'{name} = {estimator.device!r}: it must be "auto", "cpu", "cuda" or "cuda:NUMBER"')
    return estimator.device


def _scale(estimator: Any, name: str) -> str:
    return choice(name, "none" if estimator.scale is None else estimator.scale, ENGINE["scalings"])


def _target_scale(estimator: Any, name: str) -> str:
    return choice(name, "none" if estimator.target_scale is None else estimator.target_scale, ENGINE["target_scales"])


@dataclass(eq=False, repr=False)
class EngineParameters:
    """Parameters of every estimator."""

    AUTO_LOSS: ClassVar[str]
    """What loss="auto" stands for."""

    C: float | str = parameter(
        "auto",
        'float, "auto" or "strength:NUMBER"',
        """Weight of the losses relative to the regularisers. "auto" tries some values on folds and takes the one
        with the smallest loss of held-out rows. "strength:NUMBER" is a place on a scale that means the same for all
        data, as in the command; its middle is 1. `C_` is the value that was used, `auto_C_` says how it was chosen, and
        `cv_score_` is the score of held-out rows.""",
        key="c",
        convert=lambda estimator, _: _checks.weight(estimator.C),
    )
    _: KW_ONLY
    output: str = parameter(
        "power",
        "{{outputs}}",
        """Regulariser of the task matrix. "fixed" uses the matrix `theta` instead of learning one; "series" takes its
        coefficients from `method_params`.""",
    )
    k: int = parameter(
        1,
        "int",
        """For output="power": the sum of abs(Theta)^p / 2 with p = 2k / (2k - 1). 1 is the squared Frobenius norm;
        larger values give a sparser task matrix.""",
    )
    loss: str | Mapping[Any, str] | Sequence[str] = parameter(
        "auto",
        "{loss_types}",
        """{losses}. The number after the colon may be left out. "auto" is {auto_loss}.{loss_per_task}""",
    )
    kernel: str = parameter(
        "auto",
        '{{kernels}} or "auto"',
        """Kernel of the inputs, also with its parameters, as in "rbf:0.5". "auto" is linear; where C is "auto", too,
        and X is dense with at most 6,000 rows, it is an RBF kernel if that predicts held-out rows better.
        A model with an RBF kernel has no `coef_`, and it contains its training rows. With "precomputed", X is
        the square matrix of kernel values between training rows, and at prediction the matrix of kernel values between
        new rows and training rows.""",
        key="kernel",
        convert=_kernel,
    )
    gamma: float | str = parameter(
        "scale",
        'float, "scale" or "auto"',
        """Inverse width of the kernels rbf and laplacian, factor of polynomial. "scale" is 1 / (features * variance),
        "auto" is 1 / features.""",
        convert=_gamma,
    )
    degree: int = parameter(3, "int", """Degree of the polynomial kernel.""", convert=_degree)
    coef0: float = parameter(0.0, "float", """Constant term of the polynomial kernel.""", convert=_not_negative)
    intercept: str = parameter(
        "auto",
        '"auto", "free", "none", "shrunk:K" or "ridge:B"',
        """Intercept of each task, outside the task matrix: "free" is not penalised, "shrunk:K" is drawn to what all
        tasks have in common as by K more rows of each, "ridge:B" is penalised like a number of about the size B.
        "auto" is "free" or, where C is "auto" and tasks have rows of their own, "shrunk:K" if held-out rows are
        predicted better so.""",
        key="intercept",
        convert=_intercept,
    )
    bias: float = parameter(
        0.0,
        "float",
        """Value of a constant feature that is added to the inputs. The tasks share it like any other feature. 0 adds
        none.""",
        key="bias",
        convert=_not_negative,
    )
    scale: str | None = parameter(
        "auto",
        "{{scalings}}",
        """Scaling of the features, kept in the model: "standard" gives mean 0 and variance 1, "spread" variance 1
        without a shift, "unit" rows of length 1. "mixed" divides numbers by their standard deviation and features of
        two values by half the distance of these, after centring dense ones. "auto" is "mixed", and none for precomputed
        kernels. `scale_` is what was done.""",
        key="scale",
        convert=_scale,
    )
    missing: str = parameter(
        "mean",
        '"mean", "median", "zero" or "error"',
        """What missing values in a frame X become; one more feature says where they were. Arrays have none: there, NaN
        is an error. Words, dates and missing values of frames become features as in the command, and `notes_` says
        how.""",
        convert=_one_of(*_recipe.FILLS),
    )
    method: str = parameter(
        "kin",
        "str",
        """A method of `kinfolk.methods()`: {methods}. Its parameters are given in `method_params`, or in the text, as
        in "mtl:mu=0.1" or "kin:common=100,k=2". With `output`, `theta` or `prior` the default is fmtl.""",
        key="method",
        convert=method_text,
        by_task=True,
    )
    method_params: Mapping[str, Any] | None = parameter(None, "dict", """Parameters of the method.""")
    theta: Any = parameter(
        None,
        "data frame or array of shape (tasks, tasks)",
        """The task matrix for output="fixed". A frame is aligned by the names of its rows and columns, which must be
        the tasks; an array is in the order of `theta_names_`.""",
    )
    prior: Any = parameter(
        None,
        "data frame or array of shape (tasks, tasks)",
        """A task matrix to which the learned one is drawn, for output="exp" and for output="power" with k=1. Aligned
        like `theta`.""",
    )
    atoms: Mapping[str, Any] | None = parameter(
        None,
        "dict",
        """Known relations between tasks by name, whose part in the task matrix is learned: a dictionary or Series with
        the group of each task, a frame with features of the tasks, a square frame with their similarity, pairs with
        weights of a graph, or a `kinfolk.Atom`, which also has a weight. Tasks are found by their names, never by
        position. For the methods kin and fmtl. `atom_shares_` says how much of the model each of them is.""",
        key="atoms",
        convert=lambda estimator, _: _atoms.tables(estimator.atoms),
    )
    lam: float | None = parameter(
        None,
        "float",
        """Weight of the regulariser of the task matrix. With output="power" only one of C and lam has an effect. None
        is 1, or a value that suits the data if C="auto" and the output is "exp" or "cosh".""",
        key="lambda",
        convert=_positive_or_none,
    )
    solver: str = parameter(
        "auto",
        "{{solvers}}",
        """The solver.""",
        key="solver",
        convert=lambda estimator, name: choice(name, estimator.solver, ENGINE["solvers"]),
    )
    tol: float = parameter(
        1e-3,
        "float",
        """Relative duality gap at which to stop. `rel_gap_` is the one that was reached.""",
        key="tol",
        convert=_positive,
    )
    max_passes: int = parameter(
        1000,
        "int",
        """Largest number of passes over the data. A fit that ends at a limit returns a model with its true gap, and a
        ConvergenceWarning.""",
        key="max_passes",
        convert=lambda estimator, name: whole(name, estimator.max_passes, 1),
    )
    max_seconds: float | None = parameter(
        None, "float", """Largest number of seconds.""", key="max_seconds", convert=_positive_or_none
    )
    memory: int | str = parameter(
        "4GB",
        "int or str",
        """Limit for kernel matrices and other large temporary arrays, in bytes or as text such as "4GB".""",
        key="memory",
        convert=_memory,
    )
    random_state: Any = parameter(
        None,
        "int, RandomState or None",
        """Seed of every random choice. None is 0: fits are reproducible.""",
        key="seed",
        convert=lambda estimator, _: _checks.seed(estimator.random_state),
    )
    n_jobs: int | None = parameter(
        None,
        "int",
        """Number of threads, as in scikit-learn: None is 1, or what `joblib.parallel_config` says; -1 is one per core.
        Predictions of a fit with another number of threads differ by rounding.""",
        key="threads",
        convert=lambda estimator, _: _checks.threads(estimator.n_jobs),
    )
    device: str = parameter(
        "auto",
        "str",
        """Where large products are computed: "cpu", "cuda" or "cuda:N" (a GPU by its number), or "auto": the first GPU,
        if there is one and the work is large enough. Solvers run on a GPU for one loss on dense features with a
        label for every task.""",
        key="device",
        convert=_device,
    )
    warm_start: bool = parameter(
        False,
        "bool",
        """Whether `fit` starts from the dual variables of the previous fit, if the data have the same number of
        labels.""",
        convert=_flag,
    )
    verbose: int = parameter(
        0, "int", """Whether to print every certificate to the standard error stream.""", convert=_verbose
    )


@dataclass(eq=False, repr=False, kw_only=True)
class NumberParameters:
    """Parameters of regressors."""

    target_scale: str | None = parameter(
        "auto",
        "{{target_scales}}",
        """Scaling of the labels, kept in the model: "task" learns each task in units of its own standard deviation,
        "common" all tasks in units of one, and "shrunk" as "task" does, with the units of tasks that have fewer than
        six labels drawn to the usual one; "pooled" has one mean and one unit for all labels. "auto" is "pooled" with
        intercepts that are "shrunk:K", else "shrunk" if there are such tasks, else "task".
        Parameters of losses (epsilon, huber) are in the same units. Predictions, `coef_` and
        `intercept_` are in the units of y.""",
        key="target_scale",
        convert=_target_scale,
    )


@dataclass(eq=False, repr=False, kw_only=True)
class IntervalParameters:
    """Parameters of regressors whose rows belong to tasks."""

    interval_new_tasks: bool = parameter(
        False,
        "bool",
        """Whether to learn how large errors for new tasks are, for `predict_interval`: folds of whole tasks are fitted
        with the settings of the model. The price is ten more fits, or one for each task if there are fewer; intervals
        of 90 % need nine tasks. With groups that hold whole tasks it is done without this.""",
        key="interval_new_tasks",
        convert=_flag,
    )


@dataclass(eq=False, repr=False, kw_only=True)
class ClassParameters:
    """Parameters of classifiers."""

    class_weight: Mapping[Any, float] | str | None = parameter(
        None,
        'dict, "balanced" or None',
        """Weights of classes. "balanced" gives the two sides of each binary problem (a task, or a class against the
        others) the same total weight.""",
        key="class_weight",
        convert=_class_weight,
    )
    calibrate: str | None = parameter(
        None,
        '{"sigmoid"} or None',
        """Scores of the logistic loss are log-odds, from which `predict_proba` computes probabilities as they are. For
        other losses, "sigmoid" makes them log-odds by a sigmoid for each binary problem, fitted to scores of held-out
        rows and drawn to one that all share, as far as rows are few. Predictions are the classes of highest
        probability.""",
    )


@dataclass(eq=False, repr=False, kw_only=True)
class TaskParameters:
    """Parameters of estimators whose rows belong to tasks."""

    task_column: str | int | None = parameter(
        None,
        "str or int",
        """The column of X with the task of each row, by name or number. Then pipelines, searches and scorers do not
        need to know about tasks.""",
    )
    unknown_task: str = parameter(
        "error",
        '"error", "mean"',
        """What to predict for a task that had no labels in training: "error" raises one, "mean" is what all tasks have
        in common: the part `common` of the method kin, and for methods without it the mean of the predictions of all
        tasks that had labels. "mean" is for numbers and for two classes, without `calibrate`.""",
        convert=_one_of(*UNKNOWN_TASK),
    )
    keep_data: bool = parameter(
        True,
        "bool",
        """Whether to keep a reference to the training data, for `add_task` and `update`. Pickles and files never
        contain the data.""",
        convert=_flag,
    )


def specification(estimator: Any, losses: Sequence[str], tasks: Sequence[Any], **changes: Any) -> str:
    """What to fit and how, as JSON. Changes replace what the parameters of the estimator say."""
    spec: dict[str, Any] = {"loss": losses[0] if len(losses) == 1 else ",".join(losses)}
    for field in dataclasses.fields(estimator):
        more = (tasks,) if field.metadata["by_task"] else ()
        value = field.metadata["convert"](estimator, field.name, *more)  # raises an error if it cannot be
        if field.metadata["key"]:
            spec[field.metadata["key"]] = value
    return json.dumps(spec | changes)


def from_specification(cls: Any, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator that asks for the fit of this specification."""
    fields = [field for field in dataclasses.fields(cls) if field.metadata["key"] in spec]
    params = {field.name: spec[field.metadata["key"]] for field in fields}
    params["loss"] = spec["loss"].strip(",").split(",") if "," in spec["loss"] else spec["loss"]
    params["n_jobs"] = params["n_jobs"] or None
    params["atoms"] = _atoms.from_tables(spec.get("atoms") or [])
    return params | own_parameters(params["method"])


def documented(cls: Class) -> Class:
    """Adds the sections "Parameters" and "Attributes" to the documentation of an estimator, before its examples."""
    before, examples, after = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n--------\n")
    words = _words(cls)
    sections = [before + "Parameters\n----------"]
    for field in dataclasses.fields(cls):
        sections.append(_documentation(field, words))
    attributes = _attributes.section(classes=issubclass(cls, ClassParameters))
    cls.__doc__ = "\n".join(sections) + f"\n\n{attributes}\n\n{examples}{after}"
    return cls


def _documentation(field: Any, words: Mapping[str, str]) -> str:
    """Type, default and meaning of a parameter, in the layout of numpydoc."""
    default = json.dumps(field.default) if isinstance(field.default, str) else repr(field.default)
    types, doc = field.metadata["types"], " ".join(field.metadata["doc"].split())
    for name, text in words.items():
        types, doc = types.replace(f"{{{name}}}", text), doc.replace(f"{{{name}}}", text)
    lines = textwrap.wrap(doc, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join([f"{field.name} : {types}, default={default}", *lines])


def _words(cls: Any) -> dict[str, str]:
    """What stands for the names in braces: lists that the engine knows, and what differs between estimators."""
    per_task = hasattr(cls, "score_per_task")
    names = ("kernels", "outputs", "scalings", "solvers", "target_scales")
    listed = {name: ", ".join(f'"{word.partition(":")[0]}"' for word in ENGINE[name]) for name in names}
    return listed | {
        "losses": ", ".join(loss["text"] for loss in ENGINE["losses"]),
        "methods": ", ".join(method["name"] for method in _native.methods()),
        "auto_loss": cls.AUTO_LOSS,
        "loss_types": "str, dict or list" if per_task else "str",
        "loss_per_task": " A dictionary or list gives one for each task." if per_task else "",
    }
