#!/usr/bin/env bash
# ml_dtypes 0.6.0, NumPy 2.4.6: bfloat16, float8 and int4 arrays in .npy files.
# Guess: the file names the dtype, or numpy.save() raises an error.
# Seen: they come back as bytes without a meaning, void of 2 or 1 bytes: bfloat16 and any other
# dtype of 2 bytes look alike, and int4 takes a whole byte for each element.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  ml_dtypes==0.6.0 numpy==2.4.6
cat >"$folder/program.py" <<'PY'
import io, ml_dtypes, numpy
for name in ("bfloat16", "float8_e4m3fn", "int4"):
    file = io.BytesIO()
    numpy.save(file, numpy.array([1, 2, 3], getattr(ml_dtypes, name)))
    file.seek(0)
    read = numpy.load(file)
    print(name, read.dtype.str, read.nbytes)
PY
cat >"$folder/seen" <<'SEEN'
bfloat16 |V2 6
float8_e4m3fn |V1 3
int4 |V1 3
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
