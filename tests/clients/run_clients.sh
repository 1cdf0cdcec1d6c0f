#!/usr/bin/env bash
# Other people's tools read our timelines: run_clients.sh BUILD_DIR RIDGELINE. Makes an environment with HolisticTraceAnalysis from PyPI
# in BUILD_DIR/clients, once; where PyPI cannot be reached the test is skipped.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
environment="$1/clients"
if [ ! -e "$environment/ready" ]; then
  if ! { /usr/bin/python3 -m venv "$environment" && "$environment/bin/pip" install -q "HolisticTraceAnalysis==0.5.0" "pandas<3"; } >"$1/clients.log" 2>&1; then
    rm -rf "$environment"
    echo "skipped: HolisticTraceAnalysis cannot be installed here (see $1/clients.log)"
    exit 0
  fi
  touch "$environment/ready"
fi
"$environment/bin/python" "$here/check_hta.py" "$2" 2>"$1/clients.log"
