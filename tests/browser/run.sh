#!/bin/sh
# Runs one suite of page tests: run.sh SUITE.test.js BUILD_FOLDER
#
# Exits 77, which Meson calls skipped, where a browser, Node or the packages are missing.
# The packages of package.json are installed into BUILD_FOLDER once.
set -eu
here=$(dirname "$(realpath "$0")")
suite=$here/$1 build=$2

skip() { echo "SKIP: $1"; exit 77; }
command -v node > /dev/null || skip "no node; on Debian: apt-get install nodejs npm"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] ||
  skip "node $(node --version) is older than the tests' 18"
CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
[ -n "$CHROMIUM" ] || skip "no chromium; on Debian: apt-get install chromium"

mkdir -p "$build"
if ! cmp -s "$here/package.json" "$build/installed.json"; then
  command -v npm > /dev/null || skip "no npm; on Debian: apt-get install npm"
  cp "$here/package.json" "$build/package.json"
  (cd "$build" && npm install --no-package-lock --no-audit --no-fund --fetch-retries=1 \
      --loglevel=error) >&2 ||
    skip "npm could not install the packages of tests/browser/package.json"
  cp "$here/package.json" "$build/installed.json"
fi
export CHROMIUM NODE_PATH="$build/node_modules"
exec node --test --test-reporter=spec "$suite"
