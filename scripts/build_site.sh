#!/usr/bin/env bash
# Builds the documentation's site into build/site; a broken link or a page that is in no menu is an error. Needs the program, the package
# in build/python and build/venv (scripts/venv.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD/build/python${PYTHONPATH:+:$PYTHONPATH}"
exec build/venv/bin/python -m mkdocs build --quiet --strict
