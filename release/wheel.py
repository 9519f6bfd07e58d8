"""Builds a wheel, installs it into a bare virtual environment without Rust, and tries it.

    python release/wheel.py                         builds with the release profile, then the smoke test
    python release/wheel.py --profile dev --test    a quick build, and all tests of the package
    python release/wheel.py --target T -- --zig     for another platform; what follows -- goes to maturin
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SMOKE = ROOT / "release" / "smoke.py"
BUILD = ROOT / "target" / "wheel-build"
"""The environment of maturin and zig."""
OLDEST_GLIBC = (2, 28)
ZIG = "--target x86_64-unknown-linux-gnu -- --zig --compatibility manylinux_2_28"
OLDEST_PYTHON = (3, 11)


def run(*command: object, **more: object) -> None:
    print("$", " ".join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True, **more)  # type: ignore[call-overload]


def environment(folder: pathlib.Path, *packages: object) -> pathlib.Path:
    """A new virtual environment with these packages; its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / ("python.exe" if os.name == "nt" else "python")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
    return python


def build(args: argparse.Namespace) -> None:
    shutil.rmtree(args.wheels, ignore_errors=True)
    zig = ["ziglang"] if "--zig" in args.more else []
    # Cargo compiles everything again if the path of the linker, which zig is here, is another one.
    python = environment(BUILD, "maturin>=1.12,<2", *zig)
    command: list[object] = [python, "-m", "maturin", "build", "--profile", args.profile, "--out", args.wheels]
    command += ["--manifest-path", ROOT / "python" / "Cargo.toml"]
    command += (["--target", args.target] if args.target else []) + args.more
    # maturin looks for zig by the Python that comes first.
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    run(*command, env=os.environ | {"PATH": path})


def the_wheel(folder: pathlib.Path) -> pathlib.Path:
    wheels = sorted(folder.glob("kinfolk-*.whl"))
    if len(wheels) != 1:
        sys.exit(f"expected one wheel in {folder}, found {[wheel.name for wheel in wheels]}")
    return wheels[0]


def check_contents(wheel: pathlib.Path) -> None:
    """The types, the licences and the list of what is in the binary (SBOM) are there."""
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("kinfolk/py.typed", "kinfolk/_native.pyi", ".dist-info/licenses/", ".dist-info/sboms/"):
        if not any(part in name for name in names):
            sys.exit(f"{wheel.name} has no {part}")
    if "-abi3-" not in wheel.name:
        sys.exit(f"{wheel.name} is for one version of Python only")


def check_glibc(wheel: pathlib.Path) -> None:
    """The binary asks for no newer glibc than the name of the wheel says, and that is the oldest one we build for."""
    tag = re.search(r"manylinux_(\d+)_(\d+)", wheel.name)
    if tag is None:
        print(f"{wheel.name}: not checked for glibc, it is for another system")
        return
    with zipfile.ZipFile(wheel) as archive:
        binary = next(name for name in archive.namelist() if name.endswith(".so"))
        found = re.findall(rb"GLIBC_(\d+)\.(\d+)", archive.read(binary))
    needed, promised = max((int(a), int(b)) for a, b in found), (int(tag[1]), int(tag[2]))
    print(f"{wheel.name}: needs glibc {needed[0]}.{needed[1]}")
    if needed > promised:
        sys.exit(f"{wheel.name}: its name promises glibc {promised[0]}.{promised[1]}")
    if promised > OLDEST_GLIBC:
        print(f"NOT DONE: a wheel for glibc {OLDEST_GLIBC[0]}.{OLDEST_GLIBC[1]}; {ZIG} builds it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="release")
    parser.add_argument("--target")
    parser.add_argument("--wheels", type=pathlib.Path, default=ROOT / "target" / "wheels")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--smoke-only", action="store_true")
    parser.add_argument("--test", action="store_true", help="also run the tests of the package")
    parser.add_argument("more", nargs="*", help="arguments for maturin, after --")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if not args.smoke_only:
            build(args)
        wheel = the_wheel(args.wheels)
        check_contents(wheel)
        check_glibc(wheel)
        if args.build_only:
            return
        if sys.version_info[:2] != OLDEST_PYTHON:
            oldest = ".".join(map(str, OLDEST_PYTHON))
            print(f"NOT DONE: a test on Python {oldest}, the oldest; run this script with it")
        python = environment(folder / "bare", wheel)
        # Nothing of this machine but the interpreter: no cargo, no compiler, no source.
        bare = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
        run(python, "-I", SMOKE, cwd=folder, env=bare | {"PATH": ""})
        if args.test:
            run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[dev]")
            run(python, "-m", "pytest", cwd=ROOT / "python")


if __name__ == "__main__":
    main()
