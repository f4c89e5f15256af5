"""Wrong inputs of every command: one message with the problem and the remedy, the exit code, nothing made. One table."""

import re
import unittest

from harness import *

USAGE, DATA_FAULT, FAILURE = 2, 3, 5
AT_LEAST = 60

ON = ["--source", "d.csv", "--progress", "off"]
OMD = ["omd", *ON, "--mechanism", "laplace", "--total-epsilon", "1"]
SPEND = ["privacy", "spend"]
CALIBRATE = ["privacy", "calibrate"]
AUDIT = ["privacy", "audit"]

# words, exit code, problem, remedy (regular expressions)
TABLE = [
    # The program.
    (["omdd"], USAGE, r"unknown command 'omdd': known are omd, ", r"Did you mean omd\?"),
    (["zzzzz"], USAGE, r"unknown command 'zzzzz'", r"Choose one of them\. See starling --help"),
    (["topology", "chekc", "t.topo"], USAGE, r"unknown topology command 'chekc'", r"Did you mean check\?"),
    (["init", "--where", "slum"], USAGE, r"unknown word 'slum'", r"Did you mean slurm\?"),
    (["data", "covnert"], USAGE, r"unknown data command 'covnert'", r"Did you mean convert\?"),
    (["privacy", "spent"], USAGE, r"unknown privacy command 'spent'", r"Did you mean spend\?"),
    (["privacy"], USAGE, r"`privacy` lacks a command", r"See `starling privacy --help`"),
    (["help", "completion", "csh"], USAGE, r"unknown shell 'csh': known are bash, zsh, fish\.", r"Did you mean zsh\?"),
    (["help", "man", "ommd"], USAGE, r"unknown command 'ommd'", r"Did you mean omd\?"),
    (["omd", "--help=epsilo"], USAGE, r"--help=epsilo: starling omd has no such option", r"Did you mean --help=epsilon\?"),
    # Options, and the keys of files.
    ([*OMD, "--epsilo", "1"], USAGE, r"unknown option --epsilo", r"Did you mean --epsilon\?"),
    ([*OMD, "--toplogy=t.topo"], USAGE, r"unknown option --toplogy", r"Did you mean --topology\?"),
    ([*OMD, "--qqqqqqqq"], USAGE, r"unknown option --qqqqqqqq", r"--help=all lists all options"),
    ([*OMD, "--config", "typo.ini"], USAGE, r"typo\.ini:2: mechanims: unknown key", r"Did you mean mechanism\?"),
    ([*OMD, "--config", "heading.ini"], USAGE, r"heading\.ini:2: omd\.mechanism: unknown key: the heading \[omd\]", r"Delete the heading"),
    ([*OMD, "--config", "blank.ini"], USAGE, r"blank\.ini:2: 'batch 4' is no key = value", r"begin the line with #"),
    (["omd", "--resume", "other"], USAGE, r"config\.ini:1: quantiser: unknown key: .* lists all options\. --resume goes on", r"a run of the same command"),
    ([*OMD, "--encode", "onehot:town,sex"], USAGE, r"--encode 'town,sex': there is no such file", r"starling data profile writes a draft"),
    (["vertical", "--parties", "d.csv,d.csv", "--positive", "1", "--loss", "mse", "--mechanism", "none"], USAGE, r"--positive with --loss mse: .* no class", r"Give --loss logistic"),
    ([*OMD, "--lr", "0.1"], USAGE, r"unknown option --lr\. ", r"Did you mean --step\?"),
    ([*OMD, "--out", "run"], USAGE, r"unknown option --out\. ", r"Did you mean --output\?"),
    (["omd", "--epochs", "2", "d.csv"], USAGE, r"options only, .*'d\.csv' is none", r"--source d\.csv"),
    (["predict", "run", "--progress", "off", "d.csv"], USAGE, r"one MODEL and options, .*'d\.csv' is none", r"--source d\.csv"),
    ([*OMD, "-o", "run"], USAGE, r"options only, .*'-o' is none", r"See starling omd --help\."),
    (["report", "run", "--metrik", "loss"], USAGE, r"unknown option --metrik", r"Did you mean --metric\?"),
    (["data", "convert", "d.csv", "--ouptut", "e.h5"], USAGE, r"unknown option --ouptut", r"Did you mean --output\?"),
    # Enumerated values.
    ([*OMD, "--mixing", "pushsum"], USAGE, r"--mixing: unknown word 'pushsum': known are push-sum, plain\.", r"Did you mean push-sum\?"),
    ([*OMD, "--regret", "statik"], USAGE, r"--regret: unknown word 'statik'", r"Did you mean static\?"),
    (["omd", *ON, "--mechanism", "laplac"], USAGE, r"unknown mechanism 'laplac'", r"Did you mean laplace\?"),
    (["omd", *ON, "--mechanism", "gausian", "--total-epsilon", "1"], USAGE, r"unknown mechanism 'gausian'", r"Did you mean gaussian\?"),
    ([*OMD, "--loss", "logistik"], USAGE, r"unknown loss 'logistik'", r"Did you mean logistic\?"),
    ([*OMD, "--mirror", "entropik"], USAGE, r"unknown mirror map 'entropik'", r"Did you mean entropic\?"),
    ([*OMD, "--domain", "bal:2"], USAGE, r"unknown domain 'bal'", r"Did you mean ball\?"),
    ([*OMD, "--domain", "ball:radios=2"], USAGE, r"unknown key 'radios' in 'ball:radios=2'", r"Did you mean radius\?"),
    ([*OMD, "--partition", "dirichle:1"], USAGE, r"unknown partition 'dirichle'", r"Did you mean dirichlet\?"),
    ([*OMD, "--model", "mpl:2-1"], USAGE, r"unknown model 'mpl'", r"Did you mean mlp\?"),
    (["omd", *ON, "--mechanism", "laplace", "--epsilon", "schedule:from=1,to=2,shape=linaer"], USAGE, r"unknown shape 'linaer'", r"Did you mean linear\?"),
    (["omd", "--source", "synthetic:drfit", "--mechanism", "none"], USAGE, r"unknown generator 'drfit'", r"Did you mean drift\?"),
    ([*OMD, "--format", "cvs"], USAGE, r"unknown format 'cvs'", r"Did you mean csv\?"),
    ([*OMD, "--constraint", "linaer:c.csv"], USAGE, r"unknown constraint 'linaer'", r"Did you mean linear\?"),
    (["vertical", "--source", "synthetic:spectrum", "--mechanism", "none", "--quantiser", "scaler:4"], USAGE,
     r"unknown quantiser 'scaler'", r"Did you mean scalar\?"),
    (["vertical", "--source", "synthetic:spectrum", "--mechanism", "none", "--baseline", "centrall"], USAGE,
     r"unknown baseline 'centrall'", r"Did you mean central\?"),
    (["vertical", "--source", "synthetic:spectrum", "--mechanism", "none", "--loss", "sotfmax"], USAGE,
     r"unknown loss 'sotfmax'", r"Did you mean softmax\?"),
    (["renewable", *ON, "--mechanism", "none", "--variant", "offlin"], USAGE, r"unknown word 'offlin'", r"Did you mean offline\?"),
    (["infer", *ON, "--mechanism", "none", "--loss", "hubr:1"], USAGE, r"unknown loss 'hubr'", r"Did you mean huber\?"),
    (["infer", *ON, "--mechanism", "none", "--bias", "kep"], USAGE, r"unknown word 'kep'", r"Did you mean keep\?"),
    (["fedavg", *ON, "--mechanism", "none", "--client-weights", "record"], USAGE, r"unknown word 'record'", r"Did you mean records\?"),
    (["topology", "make", "rign", "--clients", "4"], USAGE, r"unknown topology family 'rign'", r"Did you mean ring\?"),
    (["topology", "make", "ring", "--clients", "4", "--weights", "sendr"], USAGE, r"unknown weight rule 'sendr'", r"Did you mean sender\?"),
    (["topology", "check", "typo.topo"], USAGE, r"typo\.topo:1: 'cleints' starts no statement", r"Did you mean clients\?"),
    (["data", "make", "two-gaussian", "--records", "5", "--output", "e.csv"], USAGE, r"unknown generator 'two-gaussian'",
     r"Did you mean two-gaussians\?"),
    ([*AUDIT, "--mechanism", "gausian"], USAGE, r"unknown mechanism 'gausian'", r"Did you mean gaussian\?"),
    ([*SPEND, "--mechanism", "lapalce", "--epsilon", "1"], USAGE, r"unknown mechanism 'lapalce'", r"Did you mean laplace\?"),
    ([*SPEND, "--groups", "typo.csv"], USAGE, r"unknown column 'mechansim'", r"Did you mean mechanism\?"),
    (["doctor", "--predict", "hosts=4,latancy=1us"], USAGE, r"'latancy=1us' is no key=value", r"Did you mean latency\?"),
    (["sweep", "typo.sweep", "--output", "out"], USAGE, r"typo\.sweep:4: unknown key 'epsilonn'", r"Did you mean epsilon\?"),
    # Columns.
    ([*OMD, "--label", "il"], USAGE, r"d\.csv: no column 'il'", r"Did you mean ill\?"),
    ([*OMD, "--id", "pateint"], USAGE, r"no column 'pateint'", r"Did you mean patient\?"),
    (["data", "describe", "d.csv", "--drop", "aeg"], USAGE, r"no column 'aeg'", r"Did you mean age\?"),
    (["data", "profile", "d.csv", "--label", "Ill2", "--output", "p"], USAGE, r"no column 'Ill2'", r"Did you mean ill\?"),
    # Numbers, contradictions and what is missing.
    ([*OMD, "--step", "fast"], USAGE, r"--step: value: 'fast' is not a number", r"Write one such as 2, 0\.5"),
    ([*OMD, "--batch", "0"], USAGE, r"--batch: 0 is out of range", r"1 to 1000000000\."),
    ([*OMD, "--delta", "2"], USAGE, r"--delta: 2 is out of range", r"0 to 0\.999999\."),
    (["omd", *ON], USAGE, r"--mechanism", r"none, laplace, gaussian, dissertation"),
    ([*OMD, "--epsilon", "1"], USAGE, r"--total-epsilon and --epsilon exclude each other", r"Give one of them"),
    ([*OMD, "--private", "keys-{client}"], USAGE, r"--private 'keys-\{client\}': only \{host\} can stand in braces",
     r"Name a folder, as in /scratch/\{host\}/run"),
    ([*OMD, "--private", ".", "--output", "e"], USAGE, r"--private '.*' on \S+ is not an empty folder", r"Name another, or empty it"),
    ([*OMD, "--benchmark-window", "9"], USAGE, r"--benchmark-window without --constraint", r"Add --constraint"),
    (["omd", "--resume", "nowhere"], USAGE, r"--resume 'nowhere': no such directory", r"Name the directory of a run"),
    (["predict", "nowhere", "--source", "d.csv"], USAGE, r"nowhere", r"."),
    (["score", "nowhere", "--source", "d.csv"], USAGE, r"nowhere", r"."),
    (["report"], USAGE, r"no run is named", r"Name its directory: starling report RUN"),
    (["topology", "check"], USAGE, r"no topology file is named", r"Name one: starling topology check FILE"),
    (["topology", "make", "ring"], USAGE, r"--clients is missing", r"Add --clients N"),
    ([*OMD, "--private", ""], USAGE, r"--private has no value", r"Give one, or leave it out"),
    (["report", "--html", "", "d.csv"], USAGE, r"--html has no value", r"Give one, or leave it out"),
    (["privacy", "ledger", "nowhere"], USAGE, r"nowhere", r"."),
    ([*CALIBRATE, "--mechanism", "laplace"], USAGE, r"--epsilon", r"."),
    (["data", "profile", "d.csv"], USAGE, r"--output is missing", r"Give the folder for the drafts"),
    (["sweep", "typo.sweep"], USAGE, r"--output", r"."),
    # Files that would be lost, and names that no configuration can hold.
    (["topology", "make", "ring", "--clients", "4", "--output", "d.csv"], USAGE, r"'d\.csv' exists, and is no such file", r"Name another"),
    ([*OMD, "--openmetrics", "d.csv", "--output", "e"], USAGE, r"'d\.csv' exists, and is no such file", r"Name another"),
    (["keys", "mak", "site"], USAGE, r"unknown keys command 'mak'", r"Did you mean make\?"),
    (["doctor", "--output", "d.csv"], USAGE, r"--output 'd\.csv' is not a directory", r"Name another"),
    (["omd", "--source", "blank.csv ", "--mechanism", "none", "--output", "e"], USAGE, r"a blank at an end", r"Name it, .* otherwise"),
    ([*OMD, "--output", "d.csv/run"], FAILURE, r"cannot make the folder 'd\.csv/run': Not a directory", r"Name another"),
    (["omd", "--source", ".", "--mechanism", "none", "--output", "e"], USAGE, r"'\.' is a folder", r"Name a file of records in it"),
    (["data", "describe", "."], USAGE, r"'\.' is a folder", r"Name a file of records in it"),
    # Records.
    (["omd", "--source", "ragged.csv", "--mechanism", "none", "--progress", "off"], DATA_FAULT, r"ragged\.csv: row 3", r"."),
    (["omd", "--source", "nan.csv", "--mechanism", "none", "--progress", "off"], DATA_FAULT, r"row 3: column 'b' is not finite: every value must be", r"Correct or remove"),
    (["vertical", "--source", "empty.csv", "--columns", "0/1", "--clients", "2", "--mechanism", "none"], DATA_FAULT, r"empty\.csv: no record has a feature", r"Check the file"),
    (["data", "describe", "words.csv"], DATA_FAULT, r"words\.csv: row 2", r"."),
]

FILES = {
    "d.csv": "patient,age,bmi,ill\n" + "".join(f"{k},{0.1 * (k % 7)},{0.2 * (k % 5)},{2 * (k % 2) - 1}\n" for k in range(20)),
    "blank.csv ": "a,y\n1,1\n2,-1\n",
    "ragged.csv": "a,b,y\n1,2,1\n1,2,3,1\n",
    "nan.csv": "a,b,y\n1,2,1\n1,nan,1\n",
    "empty.csv": "",
    "other/config.ini": "quantiser = double\n",
    "words.csv": "a,b,y\n1,much,1\n",
    "t.topo": "clients 1\n",
    "typo.topo": "cleints 3\n",
    "blank.ini": "step = 1\nbatch 4\n",
    "heading.ini": "[omd]\nmechanism = laplace\n",
    "typo.ini": "step = 1\nmechanims = laplace\n",
    "typo.csv": "mechansim,releases\nlaplace,1\n",
    "typo.sweep": "[sweep]\ncommand = omd\n[options]\nepsilonn = 1 | 2\n",
}


class WrongInputs(TestCase):
    def test_each_has_a_message_a_remedy_and_its_exit_code(self):
        self.assertGreaterEqual(len(TABLE), AT_LEAST)
        for name, text in FILES.items():
            self.write(name, text)
        before = tree(self.folder)
        for words, code, problem, remedy in TABLE:
            with self.subTest(" ".join(words)):
                result = self.run_alone(words, as_they_are=True)
                self.assertEqual((result.code, len(result.messages()), result.out), (code, 1, ""), result)
                self.assertRegex(result.messages()[0], f"{problem}.*{remedy}")
                self.assertEqual(tree(self.folder), before)

    def test_every_command_is_there(self):
        commands = re.findall(r"^  starling ([a-z]+) ", self.run_alone(["--help"]).out, re.M)
        self.assertGreater(len(commands), 8)
        self.assertLessEqual(set(commands), {words[0] for words, *_ in TABLE})


if __name__ == "__main__":
    unittest.main()
