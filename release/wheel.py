"""Builds a wheel, installs it into a bare virtual environment without Rust, and tries it.

    python release/wheel.py                         builds with the release profile, then the smoke test
    python release/wheel.py --profile dev --test    a quick build, and all tests of the package
    python release/wheel.py --target T -- --zig     for another platform; what follows -- goes to maturin
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SMOKE = ROOT / "release" / "smoke.py"


def run(*command: object, **more: object) -> None:
    print("$", " ".join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True, **more)  # type: ignore[call-overload]


def environment(folder: pathlib.Path, *packages: object) -> pathlib.Path:
    """A new virtual environment with these packages; its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / ("python.exe" if os.name == "nt" else "python")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
    return python


def build(args: argparse.Namespace, folder: pathlib.Path) -> None:
    shutil.rmtree(args.wheels, ignore_errors=True)
    zig = ["ziglang"] if "--zig" in args.more else []
    python = environment(folder / "build", "maturin>=1.12,<2", *zig)
    command: list[object] = [python, "-m", "maturin", "build", "--profile", args.profile, "--out", args.wheels]
    command += ["--manifest-path", ROOT / "python" / "Cargo.toml"]
    command += (["--target", args.target] if args.target else []) + args.more
    run(*command)


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
            build(args, folder)
        wheel = the_wheel(args.wheels)
        check_contents(wheel)
        if args.build_only:
            return
        python = environment(folder / "bare", wheel)
        # Nothing of this machine but the interpreter: no cargo, no compiler, no source.
        bare = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
        run(python, "-I", SMOKE, cwd=folder, env=bare | {"PATH": ""})
        if args.test:
            run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[dev]")
            run(python, "-m", "pytest", cwd=ROOT / "python")


if __name__ == "__main__":
    main()
