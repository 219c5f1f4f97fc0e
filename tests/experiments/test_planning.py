from experiments.planning import PILOTS, make_model, pilot_curve, true_loss


def test_curves_and_true_losses_are_those_of_the_same_model():
    curve = pilot_curve("naive Bayes", PILOTS[0], 0)
    assert curve.n_rows == PILOTS[0]
    assert 0.2 < true_loss("naive Bayes", PILOTS[0], 0) < 0.9
    assert make_model("naive Bayes").method == "temperature"
