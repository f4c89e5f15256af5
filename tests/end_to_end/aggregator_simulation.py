"""Reference simulations of `starling renewable`, `fedavg` and `vertical`, in NumPy: all clients at one place.

They are written from docs/methods/renewable.md, docs/vertical.md and the help of `fedavg`, and share no code with the program. Rows
of `renewable` end with a one. Networks are lists of (weights, bias), with ReLU between their layers.
"""

import numpy as np


def batches(count, size, epochs=1):
    """Places of the records of each round."""
    return [np.arange(i, min(i + size, count)) for i in range(0, count, size)] * epochs


def even_batches(counts, size, epochs):
    """Places of the records of each round of each client: all have as many batches as the client with most records fills."""
    rounds = -(-max(counts) // size)
    return [[np.arange(t * n // rounds, (t + 1) * n // rounds) for t in range(rounds)] * epochs for n in counts]


class Logistic:
    classifies = True

    def value(self, s, y):
        return np.logaddexp(0, -y * s)

    def slope(self, s, y):
        return -y / (1 + np.exp(y * s))

    def curvature(self, s, y):
        return 1 / (2 + np.exp(s) + np.exp(-s))


class Squared:
    classifies = False

    def value(self, s, y):
        return (s - y) ** 2 / 2

    def slope(self, s, y):
        return s - y

    def curvature(self, s, y):
        return np.ones_like(s)


class Discriminant:
    """`dwd:q`, whose slope is a cubic over the bend."""

    classifies = True

    def __init__(self, q):
        self.q, self.bend = q, q / (q + 1)
        self.half = min(0.01, self.bend / 2)
        width, end = 2 * self.half, self.bend + self.half
        # -1 + a t^2 + b t^3 over the bend: it is -1 with slope 0 at the start, and the tail at the end.
        rise, steepness = 1 + self.tail_slope(end), width * self.tail_slope(end) * -(q + 1) / end
        self.a, self.b = 3 * rise - steepness, steepness - 2 * rise

    def tail_slope(self, u):
        return -((self.bend / u) ** (self.q + 1))

    def parts(self, u):
        t = (u - self.bend + self.half) / (2 * self.half)
        return [t <= 0, t >= 1], np.maximum(u, self.bend / 2), np.clip(t, 0, 1)

    def value(self, s, y):
        where, u, t = self.parts(y * s)
        end = self.bend + self.half
        at_end = (self.bend / end) ** self.q / (self.q + 1)
        width = 2 * self.half
        rest = width * (-(1 - t) + self.a * (1 - t**3) / 3 + self.b * (1 - t**4) / 4)
        linear, tail = np.maximum(0, self.bend - self.half - y * s), (self.bend / u) ** self.q / (self.q + 1)
        return np.select(where, [at_end - rest + linear, tail], at_end - rest)

    def slope(self, s, y):
        where, u, t = self.parts(y * s)
        return y * np.select(where, [-1, self.tail_slope(u)], -1 + self.a * t**2 + self.b * t**3)

    def curvature(self, s, y):
        where, u, t = self.parts(y * s)
        return np.select(where, [0, -(self.q + 1) / u * self.tail_slope(u)], (2 * self.a * t + 3 * self.b * t**2) / (2 * self.half))


class Renewable:
    """Variant `online`, of two classes or a regression."""

    def __init__(self, clients, loss, batch, l2=0.0, penalty="full", safe=True, forget=1.0, epochs=1):
        self.clients = [(np.hstack([x, np.ones((len(x), 1))]), y) for x, y in clients]
        self.batches = [batches(len(y), batch, epochs) for _, y in self.clients]
        self.loss, self.l2, self.forget, self.safe = loss, l2, forget, safe
        d = self.clients[0][0].shape[1]
        self.weighed = np.ones(d) if penalty == "full" else np.append(np.ones(d - 1), 0)
        self.guarded = loss.classifies and (safe or penalty == "slopes")
        self.theta, self.j, self.meat = np.zeros(d), np.zeros((d, d)), np.zeros((d, d))
        self.records, self.searches = 0, 0
        self.models, self.total, self.seen = [self.theta], 0, 0

    def round(self, t):
        parts = [(x[b[t]], y[b[t]]) for (x, y), b in zip(self.clients, self.batches) if t < len(b)]
        return np.vstack([x for x, _ in parts]), np.concatenate([y for _, y in parts])

    def objective(self, theta, x, y, earlier=None):
        """F, its gradient and its curvature."""
        penalty = len(y) * self.l2 * self.weighed
        s = x @ theta
        value = self.loss.value(s, y).sum() + penalty @ theta**2 / 2
        gradient = x.T @ self.loss.slope(s, y) + penalty * theta
        curvature = x.T @ (self.loss.curvature(s, y)[:, None] * x) + np.diag(penalty)
        if earlier is not None:
            j, centre = earlier
            value, gradient = value + (theta - centre) @ j @ (theta - centre) / 2, gradient + j @ (theta - centre)
            curvature = curvature + j
        return value, gradient, curvature

    def minimum(self, of, theta):
        """By Newton steps that are made shorter until F falls, along a curvature that is raised where it is flat."""
        value, gradient, curvature = of(theta)
        for _ in range(500):
            least = 1e-10 * np.trace(curvature) or 1e-3
            step = np.linalg.solve(curvature + least * np.eye(len(theta)), gradient)
            for shorter in 0.5 ** np.arange(60):
                found = of(theta - shorter * step)
                in_rounding = shorter == 1 and found[0] <= value + 1e-13
                if found[0] < value or (in_rounding and np.linalg.norm(found[1]) < np.linalg.norm(gradient)):
                    break
            else:
                return theta
            theta = theta - shorter * step
            value, gradient, curvature = found
        return theta

    def determined(self, j, records):
        """Where no record has told an intercept's curvature, the penalty does."""
        free = (np.diag(j) == 0) * (1 - self.weighed)
        return j + np.diag(records * self.l2 * free)

    def play(self, t):
        x, y = self.round(t)
        self.total += self.loss.value(x @ self.theta, y).sum()
        self.seen += len(y)
        theta = self.theta
        if t == 0 and self.safe:
            theta = self.minimum(lambda at: self.objective(at, x, y), theta)
        before = self.forget * self.j
        value, gradient, curvature = self.objective(theta, x, y)
        step = np.linalg.solve(self.determined(before + curvature, self.records + len(y)), gradient)
        if self.guarded and self.records > 0 and value - gradient @ step / 2 < 0:
            earlier = (self.determined(before, self.records), theta)
            theta = self.minimum(lambda at: self.objective(at, x, y, earlier), np.zeros_like(theta))
            curvature = self.objective(theta, x, y)[2]
            self.searches += 1
            at = theta
        else:
            at, theta = theta, theta - step
        slopes = self.loss.slope(x @ at, y)
        self.meat = self.meat + x.T @ (slopes[:, None] ** 2 * x)
        self.theta, self.j, self.records = theta, before + curvature, self.records + len(y)
        self.models.append(theta)

    def run(self):
        for t in range(max(map(len, self.batches))):
            self.play(t)
        return self

    def mean_loss(self):
        return self.total / self.seen

    def standard_errors(self, kind):
        inverse = np.linalg.inv(self.j)
        if kind == "sandwich":
            return np.sqrt(np.diag(inverse @ self.meat @ inverse))
        x, y = np.vstack([x for x, _ in self.clients]), np.concatenate([y for _, y in self.clients])
        dispersion = 1 if self.loss.classifies else ((y - x @ self.theta) ** 2).sum() / (len(y) - len(self.theta))
        return np.sqrt(np.diag(inverse) * dispersion)


class FedAvg:
    def __init__(self, clients, loss, batch, local_steps, step, power=0.5, l2=0.0, weights="records", epochs=1, linear=False):
        self.clients, self.loss, self.epochs, self.local_steps, self.l2 = clients, loss, epochs, local_steps, l2
        self.batches = even_batches([len(y) for _, y in clients], batch, epochs)
        self.weights = np.array([len(y) if weights == "records" else 1 for _, y in clients])
        self.all_steps = max(map(len, self.batches))
        self.length = lambda t, e: step * (1 - e / self.all_steps) if linear else step / (t + 1) ** power
        self.models, self.losses = [np.zeros(clients[0][0].shape[1])], []

    def mean_loss(self):
        return np.mean(self.losses)

    def local(self, u, t, theta):
        """The local model, and whether there was a step."""
        x, y = self.clients[u]
        steps = range(t * self.local_steps, min((t + 1) * self.local_steps, len(self.batches[u])))
        for e in steps:
            rows, labels = x[self.batches[u][e]], y[self.batches[u][e]]
            self.losses.extend(self.loss.value(rows @ theta, labels))
            own_batch = len(y) * self.epochs / self.all_steps
            gradient = rows.T @ self.loss.slope(rows @ theta, labels) / own_batch
            theta = theta - self.length(t, e) * (gradient + self.l2 * theta)
        return theta, len(steps) > 0

    def run(self):
        for t in range(-(-self.all_steps // self.local_steps)):
            local = [self.local(u, t, self.models[-1]) for u in range(len(self.clients))]
            weights = self.weights * np.array([stepped for _, stepped in local])
            self.models.append(weights @ np.array([theta for theta, _ in local]) / weights.sum())
        return self


def forward(network, x):
    """Outputs of all layers; the first is x."""
    outputs = [x]
    for i, (weights, bias) in enumerate(network):
        x = outputs[-1] @ weights + bias
        outputs.append(np.maximum(x, 0) if i + 1 < len(network) else x)
    return outputs


def backward(network, outputs, derivative):
    """Sums over the records of the gradients of all layers, and the derivative by x."""
    gradients = []
    for i in range(len(network))[::-1]:
        if i + 1 < len(network):
            derivative = derivative * (outputs[i + 1] > 0)
        gradients.insert(0, (outputs[i].T @ derivative, derivative.sum(axis=0)))
        derivative = derivative @ network[i][0].T
    return gradients, derivative


def float_beyond(x, away):
    """The nearest float, or the next one in the direction `away` where that is not as far."""
    nearest = np.float32(x)
    inside = nearest > x if away < 0 else nearest < x
    return float(np.nextafter(nearest, np.float32(away)) if inside else nearest)


def scalar(bits):
    """The quantiser: middles of 2^bits cells of the range, whose ends are floats."""
    def quantised(x):
        low, high = float_beyond(x.min(), -np.inf), float_beyond(x.max(), np.inf)
        cells = 2**bits
        cell = np.clip(np.floor((x - low) * (cells / (high - low))), 0, cells - 1)
        return low + (cell + 0.5) * (high - low) / cells
    return quantised


class Vertical:
    """With the loss `logistic`, or `mse` of one target. Networks: the head's and those of all parties."""

    def __init__(self, columns, labels, networks, loss, batch, local_steps, step, of_labels="all", bits=None, head_bits=None):
        self.columns, self.labels, self.networks, self.loss, self.batch = columns, labels, networks, loss, batch
        self.local_steps, self.step, self.of_labels = local_steps, step, of_labels
        self.bits, self.head = bits, (lambda x: x) if head_bits is None else scalar(head_bits)
        self.losses = []

    def derivative(self, outputs, y):
        """Twice the slope of half a square is that of `mse`."""
        return self.loss.slope(outputs, y) * (1 if self.loss.classifies else 2)

    def quantised_head(self):
        numbers = self.head(np.concatenate([part.ravel() for layer in self.networks[0] for part in layer]))
        parts = []
        for layer in self.networks[0]:
            for part in layer:
                parts.append(numbers[:part.size].reshape(part.shape))
                numbers = numbers[part.size:]
        return list(zip(parts[::2], parts[1::2]))

    def play(self, t, places):
        y = self.labels[places][:, None]
        inputs = [x[places] for x in self.columns]
        sent = [forward(network, x)[-1] for network, x in zip(self.networks[1:], inputs)]
        if self.bits is not None:
            sent = [scalar(self.bits[t])(h) for h in sent]
        predicted = forward(self.networks[0], np.hstack(sent))
        self.losses.append(self.loss.value(predicted[-1], y).mean() * (1 if self.loss.classifies else 2))
        theta_hat = self.quantised_head() if self.of_labels == "all" else self.networks[0]
        _, from_head = backward(self.networks[0], predicted, self.derivative(predicted[-1], y))
        for _ in range(self.local_steps):
            gradients = [self.head_gradient(sent, y)]
            gradients += [self.party_gradient(k, inputs[k], sent, y, theta_hat, from_head) for k in range(len(inputs))]
            self.networks = [[(w - self.step * dw / self.batch, b - self.step * db / self.batch) for (w, b), (dw, db) in zip(*pair)]
                             for pair in zip(self.networks, gradients)]

    def head_gradient(self, sent, y):
        outputs = forward(self.networks[0], np.hstack(sent))
        return backward(self.networks[0], outputs, self.derivative(outputs[-1], y))[0]

    def party_gradient(self, k, x, sent, y, theta_hat, from_head):
        own = forward(self.networks[k + 1], x)
        width = own[-1].shape[1]
        if self.of_labels == "all":
            outputs = forward(theta_hat, np.hstack([*sent[:k], own[-1], *sent[k + 1:]]))
            _, from_head = backward(theta_hat, outputs, self.derivative(outputs[-1], y))
        return backward(self.networks[k + 1], own, from_head[:, k * width:(k + 1) * width])[0]

    def run(self):
        for t, places in enumerate(batches(len(self.labels), self.batch)):
            self.play(t, places)
        return self
