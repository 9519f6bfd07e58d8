"""Sensors with few readings each: is it worth learning them together, and which of them are alike?

python sensors.py
"""

import numpy as np

from kinfolk import MultiTaskCV, MultiTaskRegressor

# Two kinds of sensors, twelve of each, fifteen readings of ten features per sensor.
rng = np.random.default_rng(7)
kinds = rng.normal(size=(2, 10))
names = [f"{kind}-{i:02d}" for kind in ("indoor", "roof") for i in range(12)]
weights = np.repeat(kinds, 12, axis=0) + 0.3 * rng.normal(size=(24, 10))


def readings(per_sensor):
    X = rng.normal(size=(24 * per_sensor, 10))
    sensor = np.repeat(np.arange(24), per_sensor)
    y = (X * weights[sensor]).sum(axis=1) + 0.5 * rng.normal(size=len(X))
    return X, y, np.asarray(names)[sensor]


X, y, sensor = readings(15)
new_X, new_y, new_sensor = readings(200)

joint = MultiTaskCV(MultiTaskRegressor(), cv=3).fit(X, y, task=sensor)
alone = MultiTaskCV(MultiTaskRegressor(method="stl"), cv=3).fit(X, y, task=sensor)

scores = [search.score(new_X, new_y, task=new_sensor) for search in (joint, alone)]
print(f"R2 together {scores[0]:.3f}, alone {scores[1]:.3f}")
model = joint.best_estimator_
print(f"certified: relative gap {model.rel_gap_:.1e} by {model.solver_}")
nearest = np.argsort(-np.abs(model.task_correlation_[0]))[1:4]
print(f"most similar to {model.tasks_[0]}: {', '.join(model.tasks_[nearest])}")

by_itself = alone.best_estimator_.score_per_task(new_X, new_y, task=new_sensor)
gain = [score - by_itself[name] for name, score in model.score_per_task(new_X, new_y, task=new_sensor).items()]
print(f"learning together helped {sum(g > 0 for g in gain)} of {len(gain)} sensors")
