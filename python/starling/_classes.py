"""What the classes -1 and 1 of predictions stand for, where a model does not say it."""

import os
import warnings

import numpy as np


def are_names(labels):
    """Whether all labels of records are -1 and 1, as the classes of a loss of two classes are called."""
    return bool(np.isin(labels, (-1.0, 1.0)).all())


def tell_of_classes(model, classes, read_dataset):
    """Warns where predictions are classes called -1 and 1, and the model was not told how labels are written."""
    if not len(classes) or np.asarray(classes).dtype.kind not in "if" or not are_names(classes):
        return
    path = os.path.join(model, "model.h5") if os.path.isdir(model) else model
    if not os.path.exists(path) or read_dataset(path, "preparation/class_labels") is not None:
        return
    positive = read_dataset(path, "preparation/positive")
    what = ("1 is the label 1, and -1 the label 0 or -1, of the records that the model learned from" if positive is None
            else f"1 is the label {', '.join(f'{label:g}' for label in positive)} (positive=), and -1 any other")
    warnings.warn(f"predict: classes are -1 and 1: {what}. A model that learns with class_labels=(0, 1) predicts the labels, and "
                  "with class_labels=(-1, 1) it says that these are the labels.", stacklevel=3)
