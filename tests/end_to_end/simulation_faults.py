"""Simulations of the method with one fault each. A comparison that is worth anything tells each from the program."""

import numpy as np

from method_simulation import LEAST_MASS, Simulation


class PlainSteps(Simulation):
    """Steps of eta in place of eta / w."""

    def step_lengths(self, t, steps):
        return np.where(steps, self.eta(t), 0)


class StepsWithoutMass(Simulation):
    """A client without mass steps as if it had little."""

    def step_lengths(self, t, steps):
        mass, self.w = self.w, np.maximum(self.w, 2 * LEAST_MASS)
        lengths = super().step_lengths(t, steps)
        self.w = mass
        return lengths


class NoDebt(Simulation):
    """What the cap keeps back is forgotten."""

    def step_lengths(self, t, steps):
        self.debt = np.zeros_like(self.debt)
        return super().step_lengths(t, steps)


class FirstStepTwice(Simulation):
    """Step sizes count from 0."""

    def eta(self, t):
        return super().eta(max(t - 1, 0))


class UnweightedAverage(Simulation):
    """The average over rounds does not look at the mass."""

    def average(self, models, masses):
        return models.mean(axis=0)


class Backwards(Simulation):
    """Edges go the other way, with weights of their receivers."""

    def everybody(self, edges):
        return super().everybody(edges).T


class LostMass(Simulation):
    """A lost message delays the sum, and loses the mass."""

    def with_what_was_lost(self, arrived, lost, arrives):
        lost[:, :, -1] = 0
        return super().with_what_was_lost(arrived, lost, arrives)


class LostSum(Simulation):
    """The other way round."""

    def with_what_was_lost(self, arrived, lost, arrives):
        lost[:, :, :-1] = 0
        return super().with_what_was_lost(arrived, lost, arrives)


class LostPairs(Simulation):
    """Nobody keeps a share that does not get to its receiver."""

    def without(self, a, missing):
        return np.where(missing, 0, a)


class AbsentMix(Simulation):
    """Absent clients send and receive like all others."""

    def mix(self, exchange, present):
        super().mix(exchange, np.ones_like(present))


class AbsentSteps(Simulation):
    """Those who should freeze step, and those who should step freeze."""

    def stepping(self, present, gone):
        return ~gone if self.run.freezes else present


class GoneSteps(Simulation):
    """Clients that have left go on learning."""

    def stepping(self, present, gone):
        return super().stepping(present | gone, np.zeros_like(gone))


class OwnBatchSize(Simulation):
    """A short batch is divided by the number of its records."""

    def released(self, gradients, x):
        return super().released(gradients * self.run.batch / len(gradients), x)


class ClippedMean(Simulation):
    """The mean gradient is clipped, not each record's."""

    def released(self, gradients, x):
        return super().released(np.repeat(gradients.mean(axis=0, keepdims=True), len(gradients), axis=0), x)


class NoClipping(Simulation):
    def clipped(self, gradients):
        return gradients


class ClippedPenalty(Simulation):
    """The penalty's gradient is added before clipping."""

    def released(self, gradients, x):
        return self.clipped(gradients + self.penalty * x).sum(axis=0) / self.run.batch


class GraphOfTheRound(Simulation):
    """All exchanges of a round go over the same graph."""

    def mix(self, exchange, present):
        super().mix(exchange // self.run.gossip_steps, present)


class StandingGraph(Simulation):
    """The first phase never ends."""

    def mix(self, exchange, present):
        super().mix(0, present)


def masses_differ(case, course):
    return case.run.mixing == "push-sum" and np.abs(course.masses - 1).max() > 0.05


def is_learning(case):
    return case.run.records is not None


class OldDebts(Simulation):
    """A step that falls to zero is owed as long as it was."""

    def step_lengths(self, t, steps):
        due, has_mass = self.eta(t), self.has_mass()
        self.debt = self.debt + np.where(steps, due, 0)
        use = np.where(steps & has_mass, np.minimum(self.debt, self.run.step_cap * self.run.step * self.w), 0)
        self.debt = self.debt - use
        return use / np.where(has_mass, self.w, 1)


class NoFairLength(Simulation):
    """Steps that fall to zero are as long for all as if everybody could take them."""

    def longest_step(self):
        return np.inf


def owes(case, course):
    return is_learning(case) and masses_differ(case, course) and course.masses.min() * case.run.step_cap < 0.5


def changes(case):
    return len(case.run.phases) > 1


# Each with the runs in which it makes a difference.
FAULTS = {
    PlainSteps: lambda case, course: is_learning(case) and masses_differ(case, course),
    StepsWithoutMass: lambda case, course: is_learning(case) and (course.masses[:-1] < 1e-12).any(),
    NoDebt: owes,
    OldDebts: lambda case, course: case.run.linear and owes(case, course),
    NoFairLength: lambda case, course: is_learning(case) and case.run.linear and np.isfinite(Simulation(case.run).longest),
    FirstStepTwice: lambda case, course: is_learning(case) and case.run.step_power > 0 and case.run.step_offset < 5,
    UnweightedAverage: lambda case, course: case.run.average != "none" and masses_differ(case, course),
    Backwards: lambda case, course: "weights explicit" in case.traits,
    LostMass: lambda case, course: "unacknowledged losses" in case.traits,
    LostSum: lambda case, course: "unacknowledged losses" in case.traits,
    LostPairs: lambda case, course: "acknowledged losses" in case.traits,
    AbsentMix: lambda case, course: bool(case.run.absent) and case.run.clients > 1,
    AbsentSteps: lambda case, course: bool(case.run.absent) and is_learning(case),
    GoneSteps: lambda case, course: "departures" in case.traits and is_learning(case),
    OwnBatchSize: lambda case, course: "short batches" in case.traits,
    ClippedMean: lambda case, course: "clip" in case.traits and case.run.batch > 1,
    NoClipping: lambda case, course: "clip" in case.traits,
    ClippedPenalty: lambda case, course: {"clip", "l2"} <= case.traits,
    GraphOfTheRound: lambda case, course: changes(case) and case.run.gossip_steps > 1,
    StandingGraph: lambda case, course: changes(case),
}
