"""A program on a pseudo-terminal, as a user sees it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from harness import PATIENCE, environment


class Terminal:
    """Runs a command whose standard input, output and error are one terminal, unless a file is given for an output."""

    def __init__(self, command, folder, columns=80, **files):
        self._parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen([str(word) for word in command], cwd=folder, env=environment(), start_new_session=True,
                                        **{"stdin": child, "stdout": child, "stderr": child, **files})
        os.close(child)
        self.text = ""

    def _read(self, seconds):
        """Whether there may be more."""
        if not select.select([self._parent], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._parent, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += piece.decode(errors="replace")
        return piece != b""

    def wait_for(self, words):
        """Reads until the words have come since the last answer."""
        end = time.monotonic() + PATIENCE
        start = len(self.text)
        while words not in self.text[max(0, start - len(words)):]:
            if time.monotonic() > end or not self._read(0.1):
                raise AssertionError(f"'{words}' did not come:\n{self.text}")

    def type(self, line):
        os.write(self._parent, (line + "\n").encode())

    def finish(self):
        """The exit code; the text is whole afterwards."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._read(0.1):
            pass
        os.close(self._parent)
        return self.process.wait(PATIENCE)
