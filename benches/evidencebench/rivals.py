"""Other people's software on the same rows. What is not installed is left out, and the record says so."""

import dataclasses
import importlib.util

import numpy as np

import defaults

NUMBERS, TABLE, BINARY, CLASSES = "tasks, numbers", "table, numbers", "tasks, classes", "classes"
FOLDS = 5
# Gaussian processes solve a system of as many equations as there are labels, again and again.
MOST_LABELS_OF_GP = 1000
GP_STEPS, GP_LEARNING_RATE, GP_RANK = 75, 0.1, 3


class Table:
    """One model for all targets, of scaled features."""

    def __init__(self, make):
        self.make = make

    def fit(self, data):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.mean, self.spread = data.y.mean(axis=0), data.y.std(axis=0)
        self.spread = np.where(self.spread > 0, self.spread, 1)
        self.model = make_pipeline(StandardScaler(), self.make(data)).fit(data.x, (data.y - self.mean) / self.spread)
        return self

    def answers(self, data):
        return self.model.predict(data.x).reshape(data.y.shape) * self.spread + self.mean, None


def elastic_net(data):
    from sklearn.linear_model import MultiTaskElasticNetCV

    return MultiTaskElasticNetCV(l1_ratio=[0.1, 0.5, 0.9], alphas=30, cv=FOLDS, max_iter=2000)


def pls(data):
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import GridSearchCV

    most = min(data.x.shape[1], len(data.x) * (FOLDS - 1) // FOLDS - 1)
    counts = [count for count in (1, 2, 3, 4, 6, 8, 12, 16) if count <= most]
    return GridSearchCV(PLSRegression(), {"n_components": counts}, cv=FOLDS)


def catboost(data):
    from catboost import CatBoostRegressor

    return CatBoostRegressor(
        loss_function="MultiRMSE", iterations=300, thread_count=1, verbose=False, allow_writing_files=False
    )


def folds_of(y):
    """As many as the smallest class allows, at most three: these models are slow."""
    return int(min(3, np.unique(y, return_counts=True)[1].min()))


def svc(x, y):
    """A scaled linear support vector machine with cross-validated C."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    model = make_pipeline(StandardScaler(), LinearSVC())
    if len(set(y)) == 1:
        return defaults.OneClass(y[0])
    if folds_of(y) < 2:
        return model.fit(x, y)
    grid = {"linearsvc__C": np.logspace(-5, 0, 6)}
    return GridSearchCV(model, grid, cv=folds_of(y)).fit(x, y)


class Boosted:
    """Gradient boosting of trees. Leaves may be as small as few rows need, if cross-validation likes them."""

    def __init__(self, x, y):
        from lightgbm import LGBMClassifier, LGBMRegressor
        from sklearn.model_selection import GridSearchCV

        binary = y.dtype.kind == "i"
        model = (LGBMClassifier if binary else LGBMRegressor)(n_jobs=1, verbose=-1)
        grid = [{"min_child_samples": [3], "num_leaves": [7]}, {"min_child_samples": [20], "num_leaves": [31]}]
        folds = folds_of(y) if binary else 3
        self.model = (GridSearchCV(model, grid, cv=folds) if folds > 1 else model).fit(x, y)

    def predict(self, x):
        return self.model.predict(x)

    def decision_function(self, x):
        return self.model.predict_proba(x)[:, 1]


def boosted(x, y):
    return defaults.OneClass(y[0]) if y.dtype.kind == "i" and len(set(y)) == 1 else Boosted(x, y)


class GaussianProcess:
    """GPyTorch's intrinsic model of coregionalisation: an RBF kernel of the features times a kernel of the tasks."""

    def fit(self, data):
        import gpytorch
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        rows, task, y = long_form(data)
        names = np.unique(task)
        self.mean = np.asarray([y[task == t].mean() for t in names])
        spread = np.asarray([y[task == t].std() for t in names])
        self.spread = np.where(spread > 0, spread, 1)
        self.centre, unit = data.x.mean(axis=0), data.x.std(axis=0)
        self.unit = np.where(unit > 0, unit, 1)
        target = torch.tensor((y - self.mean[task]) / self.spread[task], dtype=torch.float64)
        inputs = self.inputs(data.x[rows], task)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        self.model = coregionalised(inputs, target, self.likelihood, len(names)).double()
        bound = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.model)
        steps = torch.optim.Adam(self.model.parameters(), lr=GP_LEARNING_RATE)
        self.model.train(), self.likelihood.train()
        with gpytorch.settings.fast_computations(False, False, False):
            for _ in range(GP_STEPS):
                steps.zero_grad()
                loss = -bound(self.model(*inputs), target)
                loss.backward()
                steps.step()
        return self

    def inputs(self, x, task):
        import torch

        x = (x - self.centre) / self.unit / np.sqrt(x.shape[1])
        return torch.tensor(x, dtype=torch.float64), torch.tensor(task, dtype=torch.long).reshape(-1, 1)

    def answers(self, data):
        import gpytorch
        import torch

        rows, task, _ = long_form(data)
        self.model.eval(), self.likelihood.eval()
        parts = []
        with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
            with gpytorch.settings.skip_posterior_variances():
                # In parts: it makes the kernel matrix of training and test labels together.
                for part in np.array_split(np.arange(len(rows)), -(-len(rows) // MOST_LABELS_OF_GP)):
                    parts += [self.model(*self.inputs(data.x[rows[part]], task[part])).mean.numpy()]
        found = np.concatenate(parts)
        found = found * self.spread[task] + self.mean[task]
        return (found if data.task is not None else found.reshape(data.y.shape[::-1]).T), None


def coregionalised(inputs, target, likelihood, tasks):
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(inputs, target, likelihood)
            self.mean = gpytorch.means.ConstantMean()
            self.features = gpytorch.kernels.RBFKernel()
            self.tasks = gpytorch.kernels.IndexKernel(num_tasks=tasks, rank=min(GP_RANK, tasks))

        def forward(self, x, task):
            covariance = self.features(x).to_dense() * self.tasks(task).to_dense()
            return gpytorch.distributions.MultivariateNormal(self.mean(x), covariance)

    return Model()


def long_form(data):
    """Row, task and label of every label."""
    if data.task is not None:
        return np.arange(len(data.x)), np.unique(data.task, return_inverse=True)[1], data.y
    n, tasks = data.y.shape
    return np.tile(np.arange(n), tasks), np.repeat(np.arange(tasks), n), data.y.T.reshape(-1)


@dataclasses.dataclass
class Rival:
    forms: tuple
    make: object
    about: str
    needs: str = "sklearn"
    most_labels: int | None = None

    def suits(self, data):
        labels = len(data.x) * (data.y.shape[1] if data.form == TABLE else 1)
        return data.form in self.forms and (self.most_labels is None or labels <= self.most_labels)

    def is_here(self):
        return importlib.util.find_spec(self.needs) is not None


RIVALS = {
    "ridge": Rival((NUMBERS, TABLE), defaults.Peer, "scaled RidgeCV, task by task"),
    "logistic": Rival(
        (BINARY, CLASSES), defaults.Peer, "scaled LogisticRegressionCV, task by task or all classes together"
    ),
    "svc": Rival((BINARY, CLASSES), lambda: defaults.Peer(svc), "scaled LinearSVC, C by cross-validation"),
    "elastic-net": Rival((TABLE,), lambda: Table(elastic_net), "scaled MultiTaskElasticNetCV"),
    "pls": Rival((TABLE,), lambda: Table(pls), "PLSRegression, components by cross-validation"),
    "lightgbm": Rival(
        (NUMBERS, TABLE, BINARY),
        lambda: defaults.Peer(boosted),
        "LightGBM, task by task, small or large leaves by cross-validation",
        "lightgbm",
    ),
    "catboost": Rival((TABLE,), lambda: Table(catboost), "CatBoost, MultiRMSE, 300 trees", "catboost"),
    "gp": Rival(
        (NUMBERS, TABLE),
        GaussianProcess,
        f"GPyTorch's multitask Gaussian process (ICM, RBF), up to {MOST_LABELS_OF_GP} labels",
        "gpytorch",
        MOST_LABELS_OF_GP,
    ),
}
