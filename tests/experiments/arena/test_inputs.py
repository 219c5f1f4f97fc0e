from sklearn.naive_bayes import GaussianNB


def test_the_uncached_classifier_is_the_given_one(make_input):
    estimator = GaussianNB()
    assert make_input(estimator).uncached_classifier is estimator
