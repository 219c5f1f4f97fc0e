"""
Before and after calibration
============================

Naive Bayes is too sure of itself. A reliability diagram shows it, and shows what calibration
mends. The intervals say how much of what we see may be chance.
"""

# %%
# We take 300 rows of three classes to train on, and 400 others to look at.
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import calibration_test, log_loss
from calibrant.plots import CalibrationMapDisplay, ReliabilityDisplay

X, y = make_waveform(300, random_state=0)
X_new, y_new = make_waveform(400, random_state=1)

raw = GaussianNB().fit(X, y)
model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)

# %%
# Each point is a bin of rows with like predictions: to the right, the probability that the
# model gave its most probable class; upward, how often it was right. A model that can be
# trusted lies on the diagonal, within its intervals. The steps beneath count the rows.
before = ReliabilityDisplay.from_estimator(raw, X_new, y_new, name="before")
ReliabilityDisplay.from_estimator(model, X_new, y_new, name="after", ax=before.axes_)

# %%
# Before calibration most rows get a probability close to 1, and of those with less far fewer
# are right than it says. The same for each class:
before = ReliabilityDisplay.from_estimator(raw, X_new, y_new, of="each-class", name="before")
ReliabilityDisplay.from_estimator(
    model, X_new, y_new, of="each-class", name="after", ax=before.axes_
)

# %%
# What calibration did to every probability: extremes are pulled in, by as much as the data
# ask for.
CalibrationMapDisplay.from_estimator(model, X_new)

# %%
# In numbers: the log loss, and a test of whether the probabilities of all classes could be
# right (a small p-value says that they are not).
for name, each in {"before": raw, "after": model}.items():
    proba = each.predict_proba(X_new)
    p_value = calibration_test(y_new, proba, random_state=0).p_value
    print(f"{name}: log loss {log_loss(y_new, proba):.3f}, p-value {p_value:.3f}")

# %%
# And what the model itself expected, from its training rows alone:
print(model.calibration_report_)
