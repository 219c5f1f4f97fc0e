"""
Before and after calibration
============================

Naive Bayes is overconfident. A reliability diagram shows by how much, and how far calibration
corrects it. The confidence intervals show which deviations may be due to chance.
"""

# %%
# The classifiers are trained on 300 rows of three classes and assessed on 400 held-out rows.
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import calibration_test, log_loss
from calibrant.plots import CalibrationMapDisplay, ReliabilityDisplay

X, y = make_waveform(300, random_state=0)
X_new, y_new = make_waveform(400, random_state=1)

models = {
    "uncalibrated": GaussianNB().fit(X, y),
    "calibrated": CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y),
}

# %%
# Each point is a bin of rows with similar predictions. The horizontal axis shows the mean
# probability of their most probable class, the vertical axis how often that class is the true
# one. The points of a calibrated model lie on the diagonal, up to their intervals. The histogram
# below counts the rows.
axes = None
for name, model in models.items():
    display = ReliabilityDisplay.from_estimator(model, X_new, y_new, name=name, ax=axes)
    axes = display.axes_

# %%
# Without calibration, most rows get a probability close to 1, and the most probable class is
# true less often than predicted. The same diagram for each class:
axes = None
for name, model in models.items():
    display = ReliabilityDisplay.from_estimator(
        model, X_new, y_new, of="each-class", name=name, ax=axes
    )
    axes = display.axes_

# %%
# The calibration map shows how each probability changes. Extreme probabilities move toward the
# middle, as far as the data suggest.
CalibrationMapDisplay.from_estimator(models["calibrated"], X_new)

# %%
# The log loss, and the p-value of a test of whether the probabilities of all classes are
# calibrated. A small p-value is evidence of miscalibration.
for name, model in models.items():
    proba = model.predict_proba(X_new)
    p_value = calibration_test(y_new, proba, random_state=0).p_value
    print(f"{name}: log loss {log_loss(y_new, proba):.3f}, p-value {p_value:.3f}")

# %%
# The gain that the model expects, estimated from its training rows alone:
print(models["calibrated"].calibration_report_)
