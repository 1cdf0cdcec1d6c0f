#!/usr/bin/env bash
# Installs what is missing and builds. Arguments go to the build tool: `scripts/build.sh ridgeline` builds the program alone.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
cmake --preset release >&2
cmake --build --preset release -- "$@" >&2
