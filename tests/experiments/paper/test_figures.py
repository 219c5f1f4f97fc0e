from experiments.paper.figures import draw_agreement


def test_each_panel_has_the_points_of_each_classifier():
    points = {"naive Bayes": [(0.01, 0.02), (0.1, 0.1)], "random forest": [(0.05, 0.04)]}
    figure = draw_agreement(
        {"faulty": points, "correct": {"naive Bayes": [], "other": [(0.1, 0.2)]}}
    )
    faulty, correct = figure.axes
    assert [ax.get_title() for ax in figure.axes] == ["faulty", "correct"]
    assert [dots.get_offsets().tolist() for dots in faulty.collections] == [
        [[0.01, 0.02], [0.1, 0.1]],
        [[0.05, 0.04]],
    ]
    assert [dots.get_label() for dots in correct.collections] == ["other"]
    (diagonal,) = faulty.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata())
