"""Build the one C extension; everything else is declared in pyproject.toml.

The extension is optional: where it cannot be compiled, the package is installed without it
and runs the same algorithm in Python.
"""

import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# One build against the limited API serves every Python from 3.11 on. Free-threaded builds of
# Python have no limited API yet.
uses_limited_api = not sysconfig.get_config_var("Py_GIL_DISABLED")

# Round each product and each sum on its own, as Python does: a fused multiply-add would round
# once, and the compiled kernel would no longer give the bits of the Python one.
NO_CONTRACTION = {
    "unix": ["-ffp-contract=off"],  # GCC and Clang
    "mingw32": ["-ffp-contract=off"],
    "msvc": ["/fp:strict"],
}


class BuildExtension(build_ext):
    """Add the floating-point flag that the compiler at hand knows."""

    def build_extensions(self) -> None:
        """Build all extensions."""
        for extension in self.extensions:
            extension.extra_compile_args += NO_CONTRACTION.get(self.compiler.compiler_type, [])
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildExtension},
    ext_modules=[
        Extension(
            "calibrant._core._merging",
            ["src/calibrant/_core/merging.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if uses_limited_api else [],
            py_limited_api=uses_limited_api,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if uses_limited_api else {},
)
