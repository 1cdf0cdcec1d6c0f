#!/usr/bin/env bash
# Other people's tools read our timelines: run_clients.sh BUILD_DIR RIDGELINE. Makes an environment with HolisticTraceAnalysis and
# Perfetto's schema from PyPI in BUILD_DIR/clients, once; where PyPI cannot be reached the test is skipped.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
environment="$1/clients"
packages=("HolisticTraceAnalysis==0.5.0" "pandas<3" "perfetto==0.59.1")
if [ "$(cat "$environment/ready" 2>/dev/null)" != "${packages[*]}" ]; then
  rm -rf "$environment"
  if ! { /usr/bin/python3 -m venv "$environment" && "$environment/bin/pip" install -q "${packages[@]}"; } >"$1/clients.log" 2>&1; then
    rm -rf "$environment"
    echo "skipped: HolisticTraceAnalysis and perfetto cannot be installed here (see $1/clients.log)"
    exit 0
  fi
  echo "${packages[*]}" >"$environment/ready"
fi
for check in check_hta.py check_perfetto.py; do
  "$environment/bin/python" "$here/$check" "$2" 2>"$1/clients.log" || { cat "$1/clients.log"; exit 1; }
done
