#!/usr/bin/env bash
# polars 2.1.0, pandas 3.1.1, pyarrow 26.0.1: a table of one column with a null, by way of CSV.
# Guess: three rows go in, three come out, whoever reads.
# Seen: Polars writes the null as an empty line, which pandas and Arrow skip: a row is missing,
# and all that is counted by row (labels in another file) is shifted from there on. pandas writes
# two quotes there, which all three count.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1
cat >"$folder/program.py" <<'PY'
import io, pandas, polars, pyarrow.csv
written = {"Polars": polars.DataFrame({"x": [1, None, 3]}).write_csv(),
           "pandas": pandas.DataFrame({"x": [1, None, 3]}).to_csv(index=False)}
for name, text in written.items():
    print(name, "wrote", repr(text), "rows: Polars", len(polars.read_csv(io.StringIO(text))),
          "pandas", len(pandas.read_csv(io.StringIO(text))),
          "Arrow", pyarrow.csv.read_csv(io.BytesIO(text.encode())).num_rows)
PY
cat >"$folder/seen" <<'SEEN'
Polars wrote 'x\n1\n\n3\n' rows: Polars 3 pandas 2 Arrow 2
pandas wrote 'x\n1.0\n""\n3.0\n' rows: Polars 3 pandas 3 Arrow 3
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
