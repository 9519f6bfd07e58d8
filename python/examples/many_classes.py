"""Embeddings with many classes and few rows of each: classes as tasks, and which of them are alike.

    python many_classes.py

The embeddings are generated: 60 classes in 12 families, as those of sentences or pictures come in.
"""

import numpy as np
from sklearn.linear_model import RidgeClassifierCV

from kinfolk import MultiTaskCV, OutputKernelClassifier

rng = np.random.default_rng(3)
family = rng.normal(size=(12, 128))
centre = np.repeat(family, 5, axis=0) + 0.6 * rng.normal(size=(60, 128))


def embeddings(per_class):
    label = np.repeat(np.arange(60), per_class)
    X = centre[label] + 2.0 * rng.normal(size=(len(label), 128))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), np.asarray([f"family {c // 5}, member {c % 5}" for c in label])


X, y = embeddings(8)
new_X, new_y = embeddings(50)

search = MultiTaskCV(OutputKernelClassifier(), cv=4).fit(X, y)
ridge = RidgeClassifierCV(alphas=np.logspace(-3, 3, 13), fit_intercept=False).fit(X, y)
print(f"accuracy {search.score(new_X, new_y):.3f}, ridge {ridge.score(new_X, new_y):.3f}")

model = search.best_estimator_
related = np.abs(model.task_correlation_) - np.eye(60)
same = np.asarray([a.split(",")[0] == b.split(",")[0] for a in model.classes_ for b in model.classes_]).reshape(60, 60)
found = np.mean([same[c, related[c].argmax()] for c in range(60)])
print(f"for {found:.0%} of the classes the most similar class is of the same family")
print(f"certified: relative gap {model.rel_gap_:.1e}")
