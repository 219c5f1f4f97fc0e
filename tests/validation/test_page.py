import re

import numpy as np
import pytest

from calibrant.metrics import measure_performance
from calibrant.validation import validate_probabilities, write_validation
from calibrant.validation.analysis import validate_candidates
from calibrant.validation.records import Candidate

ODD = ("<script>alert(1)</script>", 'say "hi"', "🌲")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 3, size=300)
    y = np.minimum((rng.uniform(size=(300, 1)) >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1), 1)
    return y, proba


@pytest.fixture
def render(tmp_path):
    def write(validation, **options):
        write_validation(validation, tmp_path / "page.html", **options)
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return write


def count_diagrams(page):
    section = re.search(r'<section id="reliability">.*?</section>', page, re.DOTALL).group(0)
    return section.count("<svg viewBox")


def test_the_page_answers_all_questions_and_escapes_names(rows, render):
    y, proba = rows
    before = measure_performance(y, proba, labels=[0, 1, 2])
    labels = np.array(ODD)[y]
    found = validate_probabilities(proba, labels, ODD, before=before, name=ODD[0])
    page = render(found, title=ODD[1], update_command=["calibrant", "update", ODD[0]])
    for question in (
        "Are the probabilities right?",
        "Have they changed since training?",
        "Is it the model or the mix of classes?",
        "What should I do?",
    ):
        assert question in page
    assert "<script>alert" not in page
    assert "calibrant</span> <span" in page
    assert page.count('id="reliability-axes"') == 1
    assert 'src="http' not in page
    assert "nan" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_two_models_have_a_comparison_and_two_diagrams(rows, render):
    y, proba = rows
    candidates = [Candidate("first", proba), Candidate("second", proba[:, ::-1])]
    page = render(validate_candidates(candidates, y, "abc"))
    assert count_diagrams(page) == 2 * 4
    assert "Which one is better?" in page
    assert "nothing was recorded" in page


def test_earlier_updates_and_the_command_are_shown(rows, render):
    y, proba = rows
    found = validate_probabilities(proba, y, [0, 1, 2])
    page = render(found, history=["Once."], repeat_command=["calibrant", "validate", "m.skops"])
    assert "Earlier updates of this model" in page
    assert "<li>Once.</li>" in page
    assert "To create this page again" in page


def test_classes_with_few_rows_and_many_classes_are_handled(render):
    rng = np.random.RandomState(1)
    proba = rng.dirichlet([0.3] * 40, size=80)
    y = np.array([rng.choice(40, p=row) for row in proba])
    before = measure_performance(y, proba, labels=range(40))
    page = render(validate_probabilities(proba, y, range(40), before=before))
    assert "The first 30 of 40 classes." in page
    assert count_diagrams(page) == 11
    assert "too few rows" in page
