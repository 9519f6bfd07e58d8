"""# Many classes from embeddings

Every class is a task. Theta says which classes look alike to the model: here handwritten digits, from 8 x 8
pixels."""

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
plt.title("Which digits are alike", pad=90)
