#!/usr/bin/env python3
"""Fails if a crate of the workspace depends on one that is not in a lower layer.

Reads `cargo metadata`. The layers are those of ARCHITECTURE.md.
"""

import json
import subprocess
import sys

LAYERS = {
    "lanework-arch": 1,
    "lanework-field": 2,
    "lanework-hash": 3,
    "lanework-ntt": 3,
    "lanework-merkle": 4,
    "lanework-transcript": 4,
    "lanework-security": 4,
    "lanework-fri": 5,
    "lanework-whir": 5,
    "lanework-plonky3": 5,
    "lanework-nano": 5,
    "lanework-opencl": 5,
    "lanework": 6,
    "lanework-server": 6,
    "lanework-cli": 7,
}
# Tests of every layer may use it, so it may use none of them.
TESTKIT = "lanework-testkit"


def problems(packages):
    """What is wrong, as lines; `packages` as `cargo metadata --no-deps` lists them."""
    names = {package["name"] for package in packages}
    for package in packages:
        name = package["name"]
        if name != TESTKIT and name not in LAYERS:
            yield f"{name} has no layer: give it one in ARCHITECTURE.md and .ci/layers.py"
            continue
        for dependency in package["dependencies"]:
            other, kind = dependency["name"], dependency["kind"] or "normal"
            if other not in names or (other == TESTKIT and kind == "dev" and name != TESTKIT):
                continue
            if name == TESTKIT or other == TESTKIT or LAYERS.get(other, 0) >= LAYERS[name]:
                yield f"{name} must not depend on {other} ({kind})"


def main():
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--locked"]
    packages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    found = list(problems(packages))
    print("\n".join(found) or f"{len(packages)} crates keep to their layers")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
