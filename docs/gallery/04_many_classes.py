"""# Many classes from embeddings

Every class is a task. Theta says how the model tells them apart: classes that correlate (red) look alike to it, and
where one class of a pair speaks for a row, the other of an opposite pair (blue) speaks against it. Here they are
handwritten digits, from 8 x 8 pixels; embeddings of texts or pictures are used in the same way."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kinfolk import OutputKernelClassifier, plot

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=0, stratify=y)
model = OutputKernelClassifier(method="fmtl", scale="unit").fit(train, y_train)
p = model.predict_proba(test)
print(f"accuracy {model.score(test, y_test):.3f}, log loss {-np.log(p[np.arange(len(p)), y_test]).mean():.3f}")
plot.theta_heatmap(model)
plt.title("Digits that look alike (red), and opposites (blue)")
