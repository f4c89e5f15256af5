"""Somebody stands between two hosts and alters the messages of runs whose members have proved who they are: no altered message is
accepted, and every run ends with its sentence."""

import concurrent.futures
import queue
import random
import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))

import hosts  # noqa: E402
import proxy  # noqa: E402
from harness import *  # noqa: E402, F403
from test_hosts import RANK_SCRIPT, REASON  # noqa: E402
from test_identities import PLAIN, WITH, Owners  # noqa: E402
from test_seals import FORGED, KINDS  # noqa: E402

ALTERATIONS = 1000 if SLOW else 5
AT_ONCE = 4 if SLOW else 1
ACTIONS = ("flip", "cut", "repeat", "replace", "swap", "drop")
MISSED = FORGED + r"|a message from .* to .* was sent and did not come|round \d+: .*nothing came for|the report of rank \d did not come within|MPI failed on rank \d: MPI_ERR_TRUNCATE"
SENTENCE = 10  # seconds
PATIENCE_OF_RUN = 40  # seconds


@unittest.skipIf(REASON is not None, f"no hosts: {REASON}")
class ManInTheMiddle(Owners):
    def setUp(self):
        super().setUp()
        self.make_owners(4)
        self.write("ring.topo", "generate ring clients=4\n")
        # Scripts are written before the threads start: a process that another thread starts would hold them open.
        self.script = self.folder / "rank.sh"
        self.script.write_text(RANK_SCRIPT)
        self.script.chmod(0o755)
        self.proxies = queue.Queue()
        for _ in range(AT_ONCE):
            each = proxy.Proxy()
            each.__enter__()
            self.addCleanup(each.__exit__)
            self.proxies.put((each, each.launch(MPIRUN, 1)))

    def play(self, kind, order, name):
        """A run of two ranks on two hosts: exit codes of the ranks, what they said, seconds from the alteration to the last rank's
        end, and the final model."""
        through, launch = self.proxies.get()
        through.order = order
        log = self.folder / f"log-{name}"
        log.mkdir()
        words = [kind.split()[0], *PLAIN, *KINDS[kind], *WITH, "--watchdog", 3, "--output", log / "run", "--private", log / "private"]
        job = Job([*launch, self.script, log, STARLING, *last_given(completed(words))], self.folder, log)
        try:
            codes = [log / f"code.{rank}" for rank in range(2)]
            end = time.monotonic() + PATIENCE_OF_RUN
            while not all(each.exists() for each in codes) and time.monotonic() < end:
                time.sleep(0.05)
            seconds = time.monotonic() - (order.altered_at or 0)
            said = [line for rank in range(2) if (log / f"err.{rank}").exists()
                    for line in (log / f"err.{rank}").read_text().splitlines() if line.startswith("starling")]
            summary = log / "run/summary.json"
            model = bits(json.loads(summary.read_text())["final_model"]) if summary.exists() else None
            return [int(each.read_text()) if each.exists() else None for each in codes], said, seconds, model
        finally:
            through.end_processes()  # the launcher takes its time
            job.close()
            shutil.rmtree(log)
            self.proxies.put((through, launch))

    @fewer
    def test_no_altered_message_is_accepted(self):
        chosen = random.Random(ALTERATIONS)
        right, counts = {}, {}
        kinds = list(KINDS) if SLOW else chosen.sample(list(KINDS), 2)
        for kind in kinds:
            order = proxy.Order()
            codes, said, _, right[kind] = self.play(kind, order, kind.replace(" ", "-"))
            self.assertEqual(codes, [0, 0], said)
            self.assertGreater(order.sent, 20)
            counts[kind] = order.sent

        def attack(number):
            kind, action = chosen_ones[number]
            host = 1 + number % 2
            order = proxy.Order(action, host, places[number])
            codes, said, seconds, model = self.play(kind, order, number)
            what = f"{kind}, {action}, message {order.number} from host {host}: exit codes {codes}, {seconds:.1f} s, {said}"
            if order.altered_at is None:  # the run ended before, or MPI did not start: its ports of the run before are busy for a while
                return "not there", what
            if order.held and order.sent == order.number + 1 and codes == [0, 0]:
                return "not there", what
            if None in codes:
                return "WRONG", what
            unchanged = kind.endswith("without waiting") or model in (None, right[kind])
            if codes == [0, 0]:
                return ("not read" if unchanged else "ACCEPTED"), what
            ends = codes == [FAILURE] * 2 and model is None
            # The last messages of a run come when the other rank has everything.
            ends = ends or (sorted(codes, key=str) == [0, FAILURE] and unchanged)
            good = ends and len(said) == 1 and re.search(MISSED, said[0]) and seconds < SENTENCE
            return ("refused" if good else "WRONG"), what

        chosen_ones = [(chosen.choice(kinds), chosen.choice(ACTIONS)) for _ in range(2 * ALTERATIONS)]
        places = [int(counts[kind] ** chosen.random()) - 1 for kind, _ in chosen_ones]
        found = {}
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            numbers = iter(range(2 * ALTERATIONS))
            while len(found.get("refused", [])) < ALTERATIONS and (some := [n for _, n in zip(range(4 * AT_ONCE), numbers)]):
                for fate, what in pool.map(attack, some):
                    found.setdefault(fate, []).append(what)
                    if fate.isupper():
                        print(fate, what, flush=True)
        print({fate: len(cases) for fate, cases in found.items()})
        self.assertEqual([], found.get("ACCEPTED", []) + found.get("WRONG", []))
        self.assertGreaterEqual(len(found["refused"]), ALTERATIONS)

    @fewer
    def test_what_is_altered_before_the_seals_is_found_by_signatures(self):
        """Options, keys, the list and signatures; what changes nothing is not used either."""
        _, _, _, right = self.play("omd", proxy.Order(), "right")
        refused = 0
        for number in range(8) if SLOW else (3, 4):
            for host in (1, 2):
                with self.subTest(number=number, host=host):
                    codes, said, seconds, model = self.play("omd", proxy.Order("flip", host, number, sealed=False), f"before-{number}-{host}")
                    if codes == [0, 0]:
                        self.assertEqual(model, right)
                        continue
                    self.assertEqual((len(set(codes)), len(said), model), (1, 1, None), said)
                    self.assertLess(seconds, SENTENCE)
                    refused += "signature for introduction is not that of" in said[0]
        self.assertGreater(refused, 4 if SLOW else 0)

    def test_a_delay_changes_nothing(self):
        _, _, _, right = self.play("omd", proxy.Order(), "right")
        for number in (0, 7, 30):
            with self.subTest(number):
                order = proxy.Order("delay", 1, number)
                codes, said, seconds, model = self.play("omd", order, f"late-{number}")
                self.assertEqual((codes, said, model), ([0, 0], [], right))
                self.assertGreater(seconds, proxy.DELAY)


if __name__ == "__main__":
    unittest.main()
