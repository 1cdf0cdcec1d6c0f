#!/usr/bin/env bash
# Installs what is missing, builds everything, runs every test. `scripts/test.sh asan` does it with the sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
scripts/install.sh
[ "$preset" = asan ] || scripts/venv.sh
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)"
