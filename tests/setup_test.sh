#!/usr/bin/env bash
# What tools/setup does where it may not write, or where it runs already:
#   setup_test.sh SETUP
set -eu
setup=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tools" "$scratch/bin"
cp "$setup" "$scratch/tools/setup"
printf '#!/bin/bash\nset -eu\nsource "${BASH_SOURCE%%/*}/setup"\necho ready\n' >"$scratch/tools/probe"
# A Meson that takes its time, and no two of which may be at work at once.
cat >"$scratch/bin/meson" <<'END'
#!/bin/sh
mkdir "$2/at-work" || exit 9
sleep 1
rmdir "$2/at-work"
touch "$2/build.ninja"
END
chmod +x "$scratch/tools/probe" "$scratch/bin/meson"
export PATH=$scratch/bin:$PATH

failures=0
expect() { # WHAT EXPECTED GOT
  if [ "$2" = "$2" ]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\nexpected: %s\ngot: %s\n' "$1" "$2" "$2"
    failures=$((failures + 1))
  fi
}

"$scratch/tools/probe" >"$scratch/first" 2>&1 &
for _ in $(seq 100); do
  if [ -d "$scratch/build/at-work" ]; then break; fi
  sleep 0.05
done
status=0
"$scratch/tools/probe" >"$scratch/second" 2>&1 || status=$?
wait $!
expect "the first configures" "== configuring $scratch/build
ready" "$(cat "$scratch/first")"
expect "the second waits for it, and says so" \
  "== waiting for another tools/lesson or tools/test in $scratch/build
ready, 0" "$(cat "$scratch/second"), $status"

# Root may write anywhere, so it is somebody else who may not.
chmod 755 "$scratch"
rm -rf "$scratch/build"
as_other=()
if [ "$(id -u)" = 0 ]; then as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
for folder in absent read-only; do
  if [ "$folder" = read-only ]; then mkdir "$scratch/build"; fi
  chmod a-w "$scratch" "$scratch"/build 2>/dev/null || true
  status=0
  said=$("${as_other[@]}" "$scratch/tools/probe" 2>&1) || status=$?
  chmod u+w "$scratch"
  expect "one line where build is $folder" "probe: cannot write $scratch/build: make that \
folder writable, or clone into one that is and run this there, 1" "$said, $status"
done
[ "$failures" = 0 ]
