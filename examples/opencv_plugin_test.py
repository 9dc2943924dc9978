#!/usr/bin/env python3
"""A plugin whose body needs OpenCV is built by the lines that docs/STAGES.md gives for it, outside
and against an installed Brigade, and only its body is linked with OpenCV.

    opencv_plugin_test.py BUILD_FOLDER CMAKE GENERATOR COMPILER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed_test import call, install

HEAD = "cmake_minimum_required(VERSION 3.22)\nproject(own_plugin LANGUAGES CXX)\n"
# What each library is needed for: numbers that are a picture, and a filter.
INCLUDES = "#include <opencv2/core.hpp>\n#include <opencv2/imgproc.hpp>\n"
BLUR = """    cv::Mat row(1, static_cast<int>(to.size()), CV_32F, to.data());
    cv::GaussianBlur(row, row, {3, 1}, 1);
"""
# Stands for OpenCV's own file, where its headers and libraries are and that is not.
CONFIG = """find_path(opencv_folder opencv2/imgproc.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(name core imgproc)
  find_library(opencv_${name}_file opencv_${name} REQUIRED)
  add_library(opencv_${name} SHARED IMPORTED)
  set_target_properties(opencv_${name} PROPERTIES IMPORTED_LOCATION "${opencv_${name}_file}"
    INTERFACE_INCLUDE_DIRECTORIES "${opencv_folder}")
endforeach()
"""


def documented(share):
    """The lines of a CMakeLists.txt that docs/STAGES.md has for such a plugin."""
    text = (share / "docs" / "STAGES.md").read_text()
    found = re.search(r"^```cmake[^\n]*\n([^`]*?find_package\(OpenCV[^`]*)^```", text, re.M)
    if found is None:
        sys.exit("docs/STAGES.md has no lines for a plugin with OpenCV")
    return found[1]


def write_project(share, project):
    """The example's two halves, the body with a filter of OpenCV's."""
    shutil.copytree(share / "examples" / "own_plugin", project)
    body = (project / "jitter.cpp").read_text()
    changed = body.replace("#include <cmath>\n", "#include <cmath>\n" + INCLUDES)
    changed = changed.replace("    return Next::emit;\n", BLUR + "    return Next::emit;\n")
    if len(changed) != len(body) + len(INCLUDES) + len(BLUR):
        sys.exit("jitter.cpp of the example is written in another way than this test expects")
    (project / "jitter.cpp").write_text(changed)
    (project / "CMakeLists.txt").write_text(HEAD + documented(share))


def configure(command, project, folder):
    """Where OpenCV has no file for find_package(), with that of this test."""
    done = subprocess.run([str(word) for word in command], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return
    if 'provided by "OpenCV"' not in re.sub(r"\s+", " ", done.stdout):
        sys.exit(done.stdout)
    print("OpenCV is here without its CMake files: this test's stand for them")
    (folder / "opencv").mkdir()
    (folder / "opencv" / "OpenCVConfig.cmake").write_text(CONFIG)
    shutil.rmtree(project / "build")
    call(*command, f"-DOpenCV_DIR={folder / 'opencv'}")


def check(build, cmake, generator, compiler):
    with tempfile.TemporaryDirectory(prefix="brigade_test_opencv_") as name:
        folder = pathlib.Path(name).resolve()
        moved = install(build, cmake, folder)
        project = folder / "own_plugin"
        write_project(moved / "share" / "brigade", project)
        configure([cmake, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}",
                   f"-DCMAKE_PREFIX_PATH={moved}", "-S", project, "-B", project / "build"],
                  project, folder)
        call(cmake, "--build", project / "build")
        for half, needs in (("jitter.so", False), ("brigade_jitter.so", True)):
            needed = call("readelf", "--dynamic", project / "build" / half)
            if ("[libopencv_imgproc." in needed) != needs:
                sys.exit(f"{half}: {needed}")
        printed = call(moved / "bin" / "brigade", "run", project / "own_plugin.yaml")
        sums = [re.search(r"set_checksum (\w+)", text)[1]
                for text in (printed, (project / "expected.txt").read_text())]
        if sums[0] == sums[1]:
            sys.exit(f"the filter has changed nothing: {printed}")
    print("opencv_plugin: ok")


if __name__ == "__main__":
    check(pathlib.Path(sys.argv[1]), *sys.argv[2:])
