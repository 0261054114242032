#!/usr/bin/env python3
"""What this CPU can run, and what a log says was run.

isas.py required            prints the bundles that /proc/cpuinfo shows, as LANEWORK_REQUIRE takes them
isas.py check LOG SUITE...  prints what each suite exercised, and fails if one left out what /proc/cpuinfo shows

A log has lines `isas exercised: NAMES [SUITE]`. This script and the crates detect independently of each other, so a
fault in the crates' detection shows as a bundle that nobody exercised.
"""

import pathlib
import re
import sys

BUNDLES = {
    "avx2": {"avx2", "bmi2"},
    "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "neon": {"asimd"},
}


def shown():
    """The bundles and single features that /proc/cpuinfo shows."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((set(line.split(":", 1)[1].split()) for line in lines if re.match(r"(flags|Features)\s*:", line)), set())
    return ["portable", *(name for name, needed in BUNDLES.items() if needed <= flags)], "avx512ifma" in flags


def main():
    bundles, ifma = shown()
    if sys.argv[1:] == ["required"]:
        print(",".join(bundles))
        return
    if len(sys.argv) < 4 or sys.argv[1] != "check":
        sys.exit(__doc__)
    exercised = {}
    for line in pathlib.Path(sys.argv[2]).read_text(errors="replace").splitlines():
        if found := re.search(r"isas exercised: (.*) \[(.*)\]", line):
            exercised.setdefault(found[2], set()).update(found[1].split())
    for suite, names in sorted(exercised.items()):
        print(f"isas exercised by {suite}: {' '.join(sorted(names))}")
    failed = False
    for suite in sys.argv[3:]:
        expected = set(bundles)
        if ifma and suite in ("hash", "ntt"):
            # With IFMA the bundle's name stands for the kernels that use it; those that do not must run too.
            expected.add("avx512,-ifma")
        for name in sorted(expected - exercised.get(suite, set())):
            print(f"{suite} did not exercise {name}, which /proc/cpuinfo shows")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
