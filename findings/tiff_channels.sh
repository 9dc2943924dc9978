#!/usr/bin/env bash
# opencv-python-headless 5.0.0.93, Pillow 13.0.0, tifffile 2026.3.3: TIFF of several bands whose
# photometric is min-is-black, as remote sensing tools write them.
# Guess: the first three bands as colors, or an error.
# Seen: OpenCV takes up to four bands without an error and gives the first one alone; asked for
# color it repeats it. Pillow opens two bands as the first one and rejects three or more.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  pillow==13.0.0 opencv-python-headless==5.0.0.93 tifffile==2026.3.3 numpy==2.4.6
cat >"$folder/program.py" <<'PY'
import io, cv2, numpy, tifffile
from PIL import Image
for bands in (2, 3, 4):
    file = io.BytesIO()
    pixels = numpy.full((8, 8, bands), [10 * (i + 1) for i in range(bands)], numpy.uint8)
    tifffile.imwrite(file, pixels, photometric="minisblack", planarconfig="contig")
    read = numpy.frombuffer(file.getvalue(), numpy.uint8)
    try:
        pillow = Image.open(file).getpixel((0, 0))
    except Image.UnidentifiedImageError:
        pillow = "rejected"
    print(bands, "bands: OpenCV", cv2.imdecode(read, cv2.IMREAD_UNCHANGED).shape,
          *cv2.imdecode(read, cv2.IMREAD_COLOR)[0, 0], "Pillow", pillow)
PY
cat >"$folder/seen" <<'SEEN'
2 bands: OpenCV (8, 8) 10 10 10 Pillow 10
3 bands: OpenCV (8, 8) 10 10 10 Pillow rejected
4 bands: OpenCV (8, 8) 10 10 10 Pillow rejected
SEEN
cd "$folder"
if OPENCV_LOG_LEVEL=SILENT env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
