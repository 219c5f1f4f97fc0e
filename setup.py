"""What pyproject.toml cannot say yet: one kernel in C, left out where it cannot be compiled."""

import sysconfig

from setuptools import Extension, setup

# One build serves all versions of Python from 3.11 on, but for those without a global lock.
is_stable = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        Extension(
            "calibrant._core._merging",
            ["src/calibrant/_core/merging.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if is_stable else [],
            # Products and sums rounded one by one, as in Python.
            extra_compile_args=["-ffp-contract=off"],
            py_limited_api=is_stable,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if is_stable else {},
)
