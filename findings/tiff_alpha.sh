#!/usr/bin/env bash
# Pillow 13.0.0, opencv-python-headless 5.0.0.93, tifffile 2026.3.3: RGBA TIFF of the color 50,
# 100, 25 with alpha 128, once as associated alpha (colors are multiplied by it already), once as
# unassociated.
# Guess: both readers give the file's numbers, or both give straight colors.
# Seen: they disagree on both kinds. Pillow divides associated alpha away; OpenCV leaves it, and
# multiplies unassociated alpha in, also where the alpha channel itself is dropped
# (IMREAD_COLOR). A training set made with one and read with the other has other colors wherever
# alpha is not 255.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  pillow==13.0.0 opencv-python-headless==5.0.0.93 tifffile==2026.3.3 numpy==2.4.6
cat >"$folder/program.py" <<'PY'
import io, cv2, numpy, tifffile
from PIL import Image
pixels = numpy.full((2, 2, 4), (50, 100, 25, 128), numpy.uint8)
for kind in ("assocalpha", "unassalpha"):
    file = io.BytesIO()
    tifffile.imwrite(file, pixels, photometric="rgb", extrasamples=[kind])
    read = numpy.frombuffer(file.getvalue(), numpy.uint8)
    print(kind, "Pillow", *Image.open(file).getpixel((0, 0)),
          "OpenCV", *cv2.imdecode(read, cv2.IMREAD_UNCHANGED)[0, 0][[2, 1, 0, 3]],
          "without alpha", *cv2.imdecode(read, cv2.IMREAD_COLOR)[0, 0][::-1])
PY
cat >"$folder/seen" <<'SEEN'
assocalpha Pillow 99 199 49 128 OpenCV 50 100 25 128 without alpha 50 100 25
unassalpha Pillow 50 100 25 128 OpenCV 25 50 13 128 without alpha 25 50 13
SEEN
cd "$folder"
if OPENCV_LOG_LEVEL=SILENT env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
