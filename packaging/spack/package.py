# SPDX-License-Identifier: Apache-2.0
"""stepscope for Spack."""

from spack.package import *


class Stepscope(MesonPackage):
    """Reads profiler traces of training and inference jobs and says where the time of a step goes,
    why, what to change, and how much faster it would get."""

    homepage = "https://github.com/stepscope/stepscope"
    url = "https://github.com/stepscope/stepscope/releases/download/v0.2.0/stepscope-0.2.0.tar.xz"

    license("Apache-2.0")

    # tools/release puts the sum of the archive in
    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("serve", default=True, description="The viewer over HTTP")
    variant("python", default=False, description="The Python module")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type="build")
    depends_on("python@3.11:", type=("build", "link", "run"), when="+python")
    depends_on("isa-l")
    depends_on("zstd")
    depends_on("libmicrohttpd", when="+serve")
    depends_on("libseccomp")

    def meson_args(self):
        args = ["-Dtests=false", "-Dprompt=disabled"]
        for name in ("serve", "python"):
            chosen = "enabled" if f"+{name}" in self.spec else "disabled"
            args.append(f"-D{name}={chosen}")
        return args
