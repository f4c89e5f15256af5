#!/usr/bin/env python3
"""Runs the experiments of the dissertation's chapters 2 to 5 (but for the one on images, jobs/mnist.ini) and prints one
table: what is claimed, what is measured, whether it holds, and why. Some minutes on two cores.

Lines marked "this project" are figures that this project expects of itself (docs/methods).

Writes figures.csv, with all lines of the table, and a folder per chapter with what that chapter's script writes.
"""

import importlib

import experiment

CHAPTERS = ("ch2", "ch3", "ch4", "ch5")

if __name__ == "__main__":
    experiment.judge_chapters(__doc__, "results-dissertation", {
        name: importlib.import_module(f"dissertation-{name}").judge for name in CHAPTERS})
