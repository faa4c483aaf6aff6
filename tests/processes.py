"""How do several processes do the same at the same moment? One loads what they need, which takes longest, and forks."""

import subprocess
import sys

_PROGRAM = """
import os, sys
{load}
for _ in range({number}):
    if os.fork() == 0:
        {do}
        sys.stdout.flush()
        os._exit(0)
codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range({number})]
sys.exit(any(codes))
"""


def at_once(load: str, do: str, number: int, *arguments: str) -> str:
    """What all of so many processes said. One that fails fails the test.

    `do` is one statement, and must not need threads that were started by `load`.
    """
    program = _PROGRAM.format(load=load, do=do, number=number)
    command = [sys.executable, "-P", "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout
