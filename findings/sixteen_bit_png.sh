#!/usr/bin/env bash
# Pillow 13.0.0, opencv-python-headless 5.0.0.93: the value 511 of 65535 in 8 bits.
# Guess: 2, rounded, or 1, cut off, the same for gray and RGB.
# Seen: Pillow cuts RGB off when it opens the file (1), but keeps gray as 16 bits, whose
# convert("L") clips at 255: nearly black becomes white. OpenCV cuts both off.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  pillow==13.0.0 opencv-python-headless==5.0.0.93 numpy==2.4.6
cat >"$folder/program.py" <<'PY'
import io, cv2, numpy
from PIL import Image
for name, shape in (("gray", (2, 2)), ("RGB", (2, 2, 3))):
    png = cv2.imencode(".png", numpy.full(shape, 511, numpy.uint16))[1]
    image = Image.open(io.BytesIO(png.tobytes()))
    print(name, "Pillow", image.mode, image.convert("L").getpixel((0, 0)),
          "OpenCV", cv2.imdecode(png, cv2.IMREAD_GRAYSCALE)[0, 0])
PY
cat >"$folder/seen" <<'SEEN'
gray Pillow I;16 255 OpenCV 1
RGB Pillow RGB 1 OpenCV 1
SEEN
cd "$folder"
if OPENCV_LOG_LEVEL=SILENT env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
