"""A run between two accounts of one machine, by the words of docs/how-to/prove-who-takes-part.md. Instead of ssh, a program of this test
reaches the other account; it alone stays root."""

import os
import pathlib
import re
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))

from harness import *  # noqa: E402, F403

PAGE = SOURCE / "docs" / "how-to" / "prove-who-takes-part.md"
OWNERS = {"site-a": 61_001, "site-b": 61_002}  # numbers of their accounts, which nobody else has

# Open MPI calls it as AGENT HOST WORDS..., in the first account.
AGENT = """#!/usr/bin/env python3
import os, socket, sys
way = socket.socket(socket.AF_UNIX)
way.connect(os.path.join(os.path.dirname(__file__), "door"))
way.sendall("\\0".join(sys.argv[1:]).encode() + b"\\n")
while came := way.recv(4096):
    os.write(1, came)
"""


def missing():
    if os.geteuid() != 0:
        return "not root (other accounts are entered as root)"
    return None if shutil.which("setpriv") else "no setpriv"


class Door(socketserver.ThreadingUnixStreamServer):
    """Starts what the agent asks for in the account of the host that it names, as sshd does."""

    daemon_threads = True

    def __init__(self, folder, accounts):
        self.accounts = accounts
        super().__init__(str(folder / "door"), Visitor)
        os.chmod(folder / "door", 0o777)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Visitor(socketserver.StreamRequestHandler):
    def handle(self):
        host, *words = self.rfile.readline().decode().rstrip("\n").split("\0")
        words = self.server.accounts.enter(host, ["sh", "-c", " ".join(words)])
        subprocess.run(**words, stdin=subprocess.DEVNULL, stdout=self.connection.fileno(), stderr=self.connection.fileno())


class Accounts:
    """Two accounts with a home folder each that nobody else can read."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-accounts-", dir="/tmp"))
        self.folder.chmod(0o755)
        for name, number in OWNERS.items():
            self.home(name).mkdir(mode=0o700)
            os.chown(self.home(name), number, number)
        (self.folder / "agent").write_text(AGENT)
        (self.folder / "agent").chmod(0o755)
        self.program = self.folder / "starling"
        shutil.copy(STARLING, self.program)
        self.door = Door(self.folder, self)

    def close(self):
        self.door.shutdown()
        self.door.server_close()
        shutil.rmtree(self.folder)

    def home(self, name):
        return self.folder / name

    def enter(self, name, words):
        number = str(OWNERS[name])
        settings = {"HOME": self.home(name), "PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": "/tmp", "OMPI_MCA_plm_rsh_agent": self.folder / "agent",
                    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
        return {"args": ["setpriv", "--reuid", number, "--regid", number, "--clear-groups", *words], "cwd": self.home(name),
                "env": {key: str(value) for key, value in settings.items()}}

    def shell(self, name, line, **more):
        return subprocess.run(**self.enter(name, ["sh", "-c", line]), capture_output=True, text=True, timeout=PATIENCE, **more)


@unittest.skipIf(missing() is not None, f"no accounts: {missing()}")
class TwoAccounts(TestCase):
    def setUp(self):
        super().setUp()
        self.accounts = Accounts()
        self.addCleanup(self.accounts.close)

    def good(self, name, line):
        done = self.accounts.shell(name, line)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def prepare(self):
        """Keys, list of members and records, each owner's in its own home folder, as the page says."""
        lines = []
        for name in OWNERS:
            self.good(name, f"starling keys make {name} && mv {name}.key own.key")
            lines.append(self.good(name, f"cat {name}.pub"))
        for client, name in enumerate(OWNERS):
            (self.accounts.home(name) / "members").write_text("".join(lines))
            self.good(name, "starling data make drift:informative=1 --clients 2 --records 200 --output p-{client}.csv")
            self.good(name, f"rm p-{1 - client}.csv")
        prints = {self.good(name, "starling keys show members") for name in OWNERS}
        self.assertEqual(len(prints), 1)

    def command(self):
        """The page's own words."""
        text = PAGE.read_text().split("## Between two accounts")[1]
        return re.search(r"^ *(mpirun --host localhost,site-b.*?--output run)$", text, re.DOTALL | re.MULTILINE).group(1)

    def test_each_account_reads_its_own_files_and_keeps_its_own_secrets(self):
        self.prepare()
        out = self.good("site-a", self.command())
        self.assertRegex(out, "members +2 have proved who they are")
        summary = json.loads(self.good("site-a", "cat run/summary.json"))
        self.assertEqual(summary["members"]["sealed"], "all")
        for name, number in OWNERS.items():
            kept = list((self.accounts.home(name) / "private").rglob("*"))
            self.assertTrue(any("ledger" in path.name for path in kept), kept)
            self.assertEqual({path.stat().st_uid for path in kept}, {number})
        for client, (name, other) in enumerate(zip(OWNERS, reversed(OWNERS))):
            for file in ("own.key", f"p-{client}.csv", "private"):
                line = f"ls {self.accounts.home(name)}/{file}"
                self.good(name, line)
                self.assertNotEqual(self.accounts.shell(other, line).returncode, 0)
        self.assertFalse((self.accounts.home("site-b") / "run").exists())

    def refused(self, text):
        """The run ends by these words, before the second account has anything of it."""
        done = self.accounts.shell("site-a", self.command())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(text, done.stderr)
        self.assertFalse((self.accounts.home("site-b") / "private").exists())

    def test_a_stranger_in_the_other_account_is_refused_by_name(self):
        self.prepare()
        self.good("site-b", "starling keys make other && mv other.key own.key")
        self.refused("that of no member: a stranger, or a changed key")

    def test_the_other_owner_consents_to_less_and_its_rank_refuses(self):
        self.prepare()
        self.good("site-b", "starling keys consent own < /dev/null && sed -i 's/most-total-epsilon = .*/most-total-epsilon = 0.5/' own.consent")
        self.refused("the owner agrees to 'most-total-epsilon = 0.5'")


if __name__ == "__main__":
    unittest.main()
