"""Held-out scores in closed form, for estimators that need no refit for every split."""

from calibrant.generation.closed_form.registry import CLOSED_FORMS
from calibrant.generation.closed_form.scores import closed_form_scores

__all__ = ["CLOSED_FORMS", "closed_form_scores"]
