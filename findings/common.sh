# Sourced by each finding. It makes a temporary folder with an environment of pinned packages
# from PyPI, runs a program there, and compares what that prints with what was seen:
#   install PACKAGE==VERSION...    program <<'PY' ... PY    seen <<'SEEN' ... SEEN
# It exits with 1 and the difference where the behavior has changed, and removes the folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

install() {
  python3 -m venv "$folder/env"
  "$folder/env/bin/pip" install --quiet --disable-pip-version-check "$@"
}

program() { cat >"$folder/program.py"; }

seen() {
  cat >"$folder/seen"
  (cd "$folder" && OPENCV_LOG_LEVEL=SILENT env/bin/python -W ignore program.py >found) || true
  if diff "$folder/seen" "$folder/found"; then
    echo "$(basename "$0" .sh): as seen"
  else
    echo "$(basename "$0" .sh): the behavior has changed (<: seen, >: now)"
    exit 1
  fi
}
