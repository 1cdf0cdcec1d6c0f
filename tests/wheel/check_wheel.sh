#!/usr/bin/env bash
# The package as a user has it: check_wheel.sh SOURCE BUILD_DIR. Builds the wheel with the tests' environment (and ccache, which holds the
# objects of BUILD_DIR), installs it into a clean one and runs it far from the source tree. pip's own build folder, build-*, stays in SOURCE
# for the cache's sake: pyproject.toml says why. What the wheel needs comes in the versions that the tests have.
set -euo pipefail
source=$1
work=$2/wheel_test
tools=$2/venv/bin
if [ ! -x "$tools/python" ]; then
  echo "skipped: no $2/venv (scripts/venv.sh makes it)"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work"
# The name under which the build calls the compiler: a compiler cache tells names apart.
export CXX=c++
"$tools/pip" wheel -q --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work" "$source"
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --prefer-binary --constraint "$source/tests/python/requirements.txt" \
  "$work"/ridgeline-*.whl
unset RIDGELINE_CONFIGS PYTHONPATH
cd /
exec "$work/venv/bin/python" -I "$source/tests/wheel/check_installed.py" "$source"
