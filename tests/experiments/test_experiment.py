import pytest

from experiments.experiment import Task
from experiments.registry import EXPERIMENTS


def test_tasks_cover_an_experiment_once():
    tasks = EXPERIMENTS["paper"].list_tasks()
    # Twelve data sets, two classifiers, ten folds and three approaches.
    assert len(tasks) == 12 * 2 * 10 * 3
    assert len(set(tasks)) == len(tasks)


def test_an_experiment_can_be_restricted():
    part = EXPERIMENTS["paper"].restrict(["seeds"], ["nb"])
    assert (part.data_sets, part.classifiers) == (("seeds",), ("nb",))
    assert (part.name, part.n_folds) == ("paper", 10)
    assert EXPERIMENTS["paper"].restrict() == EXPERIMENTS["paper"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"data_sets": ["iris"]}, r"data sets of experiment paper must be among .*, got iris"),
        ({"classifiers": ["svm"]}, r"experiment paper must be among nb, rf, got svm"),
    ],
)
def test_unknown_names_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        EXPERIMENTS["paper"].restrict(**names)


def test_the_seed_of_a_task_is_that_of_its_fold():
    task = Task("paper", "seeds", "nb", ("multiclass_raw",), 4)
    other = Task("arena-50", "seeds", "rf", ("raw", "auto"), 4)
    assert task.seed == other.seed
    assert task.seed != Task("paper", "seeds", "nb", ("multiclass_raw",), 5).seed
    assert task.seed != Task("paper", "ecoli", "nb", ("multiclass_raw",), 4).seed


def test_runs_are_those_of_the_task(paper_data):
    experiment = EXPERIMENTS["smoke"]
    task = experiment.restrict(["seeds"]).list_tasks()[1]
    runs = experiment.run(task)
    assert [run.identity for run in runs] == [task.identity(name) for name in task.methods]
    assert {(run.seed, run.n_folds) for run in runs} == {(task.seed, 3)}
    assert runs[0].implementation == "sklearn"
    assert "scikit-learn" in runs[0].versions
