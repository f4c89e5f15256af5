"""Own models of the tests."""

import numpy as np
import starling


class Logistic(starling.Model):
    """What --loss logistic is, for labels -1 and 1."""

    classifies = True

    def gradients(self, point, x, y):
        margin = y * (x @ point)
        losses = np.logaddexp(0, -margin)
        return losses, (-y * np.exp(-margin - losses))[:, None] * x

    def predict(self, point, x):
        return np.where(x @ point > 0, 1, -1)


class Sized(Logistic):
    """Keeps the number of features that it is told."""

    def __init__(self):
        self.scale = 1

    def dimension(self, features):
        self.features = features
        return features


class Poisson(starling.Model):
    def __init__(self, offset=0.0):
        self.offset = offset

    def start(self, seed):
        return np.full(4, 0.01)

    def gradients(self, point, x, y):
        score = x @ point + self.offset
        rate = np.exp(score)
        return rate - y * score, (rate - y)[:, None] * x

    def predict(self, point, x):
        return np.exp(x @ point + self.offset)
