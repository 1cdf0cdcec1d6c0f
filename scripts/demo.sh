#!/usr/bin/env bash
# From nothing to the five cases: installs what is missing, builds the program, runs the cases and prints their diagnoses.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh ridgeline
exec build/ridgeline cases
