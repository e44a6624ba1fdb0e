#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays the command's own synthetic trace with every check on, and judges its report.

    scripts/trace_smoke.py build/chunkproof

Right is: exit status 0, no violation, and something to violate: requests, shared chunks, checks.
"""
import json
import subprocess
import sys

MUST_BE_POSITIVE = ("requests", "full_blocks", "matched_blocks", "allocated_chunks", "peak_chunks",
                    "invariant_checks")


def main() -> int:
    run = subprocess.run([sys.argv[1], "trace", "--check", "every", "--json"],
                         capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    if run.returncode != 0:
        print(run.stdout)
        print(f"chunkproof trace ended with status {run.returncode}")
        return 1
    report = json.loads(run.stdout)
    print(json.dumps(report, indent=2))
    idle = [name for name in MUST_BE_POSITIVE if not report[name] > 0]
    if idle:
        print(f"nothing to check: {', '.join(idle)} not above 0")
        return 1
    print(f"requests {report['requests']}, checks {report['invariant_checks']}, "
          f"violations {report['violations']}")
    return 1 if report["violations"] != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
