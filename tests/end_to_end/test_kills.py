"""Every case of the harness that kills, a few times. `python3 kills.py` does it 500 times."""

import unittest

import kills


class Kills(unittest.TestCase):
    def test_every_case_survives(self):
        for name in kills.CASES:
            with self.subTest(name):
                tally = kills.Trial().case(name, 4, seed=3)
                self.assertEqual(tally.differences, [], f"{name}: {tally}")
                self.assertEqual(tally.kills, 4)


if __name__ == "__main__":
    unittest.main()
