#!/usr/bin/env bash
# Makes build/venv, the Python environment of the tests, notebooks and docs, from PyPI; again only when its list of packages changes.
# Of the system's Python, because the module in build/python is built for that one.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/venv
list=tests/python/requirements.txt
cmp -s "$list" "$environment/made_from.txt" && exit 0
rm -rf "$environment"
/usr/bin/python3 -m venv "$environment"
if ! "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$list" >&2; then
  echo "scripts/venv.sh: the packages of $list cannot be installed from PyPI" >&2
  exit 1
fi
cp "$list" "$environment/made_from.txt"
