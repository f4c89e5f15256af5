"""What tests of `--unit person` share."""

from neighbours import *


class PersonCase(NeighbourTest):
    """Tests over data.csv with `places` persons."""

    places = 12
    ANOTHER = {"one": ["0.3,0.2,0.1,1"], "thirteen": [f"{i},-9,{i * i},-1" for i in range(13)], "huge": ["1e200,1e200,-1e200,1"] * 2}
    IGNORED = {"ignored": ["0.3,0.2,0.1,7"] * 3}  # by --ignore 7

    def finished(self, words, ranks=1):
        """The summary of a run."""
        done = self.succeeded(self.run_command(ranks, words))
        return done.summary()

    def check_same_price(self, by_person, by_record, *more):
        """Of two runs by persons with one record each, and by records."""
        for key in ("epsilon", "mu", "releases", "participations", *more):
            self.assertEqual(by_person["privacy"][key], by_record["privacy"][key], key)
        self.assertEqual((by_person["privacy"]["unit"], by_record["privacy"]["unit"]), ("person", "record"))

    def check_hidden(self, name, words, others, most_rounds=1):
        """How many records person p5 has shows nowhere but in so many rounds."""
        runs = {change: self.run_with(f"{name}-{change}", words, persons(rows, 3, self.places)) for change, rows in others.items()}
        self.assertEqual(runs["one"]["exit code"], b"0", runs["one"]["stderr"][-2000:])
        for change in others:
            with self.subTest(case=name, change=change):
                self.assertEqual(self.difference(runs["one"], runs[change]), "")
                self.assertLessEqual(len(self.rounds_moved(f"{name}-one", f"{name}-{change}")), most_rounds)

    def check_refused(self, cases, code=2):
        """Cases are words, and a part of the message."""
        for words, says in cases:
            with self.subTest(words=words):
                refused = self.run_command(1, words)
                self.assertEqual(refused.code, code, refused)
                self.assertIn(says, refused.err)


__all__ = [name for name in globals() if not name.startswith("_")]
