"""How long OpenMP's threads spin before they sleep, as libgomp itself reports it while it is loaded."""
import os
import re
import subprocess
import sys

import pytest

PROGRAM = "import os, symbind; print(os.environ.get('GOMP_SPINCOUNT'), os.environ.get('OMP_WAIT_POLICY'))"


def start(**variables):
    """(the number of rounds, what the program prints)"""
    environment = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**environment, "OMP_DISPLAY_ENV": "verbose", **variables},
                          capture_output=True, text=True, check=True)
    found = re.search(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)
    if found is None:
        pytest.skip("this build has no libgomp")
    return int(found[1]), done.stdout.split()


def test_threads_sleep_after_a_short_wait_and_the_environment_is_unchanged():
    assert start() == (20000, ["None", "None"])


def test_the_choice_of_the_user_counts():
    assert start(GOMP_SPINCOUNT="777") == (777, ["777", "None"])
    assert start(OMP_WAIT_POLICY="passive") == (0, ["None", "passive"])
