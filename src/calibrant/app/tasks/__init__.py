"""What the application does with files: the tasks of its processes, by name."""

from calibrant.app.tasks.models import case, fit, open_model, predict
from calibrant.app.tasks.outcomes import assign, calibrate, update, validate
from calibrant.app.tasks.tables import check, example, preview, report

TASKS = {
    "example": example,
    "preview": preview,
    "check": check,
    "report": report,
    "fit": fit,
    "open": open_model,
    "predict": predict,
    "case": case,
    "validate": validate,
    "update": update,
    "assign": assign,
    "calibrate": calibrate,
}
