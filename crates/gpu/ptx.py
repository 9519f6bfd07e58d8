"""Makes src/kernels.ptx from src/kernels.cu with NVRTC 12.0, which needs neither a GPU nor a driver.

    pip install nvidia-cuda-nvrtc-cu12==12.0.76
    python crates/gpu/ptx.py            # writes kernels.ptx
    python crates/gpu/ptx.py --check    # exit code 1 if kernels.ptx was not made from this kernels.cu

PTX of this version loads with every driver for CUDA 12 or newer, on Volta and newer devices. The first line of
kernels.ptx has a checksum of kernels.cu and of the rest of kernels.ptx, so that the check needs no compiler; where
NVRTC is installed, the check compiles as well.
"""

import ctypes
import hashlib
import importlib.util
import pathlib
import sys

ARCHITECTURE = b"--gpu-architecture=compute_70"


def library() -> ctypes.CDLL:
    import nvidia.cuda_nvrtc

    folder = pathlib.Path(next(iter(nvidia.cuda_nvrtc.__path__))) / "lib"
    return ctypes.CDLL(str(folder / "libnvrtc.so.12"))


def compile_ptx(source: bytes) -> str:
    nvrtc = library()
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 1)(ARCHITECTURE)
    failed = nvrtc.nvrtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def checksum(source: bytes, ptx: str) -> str:
    return f"// sha256 of kernels.cu and of the rest: {hashlib.sha256(source + ptx.encode()).hexdigest()}\n"


def check(source: bytes, kept: str) -> None:
    first, _, rest = kept.partition("\n")
    stale = first + "\n" != checksum(source, rest)
    if not stale and importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.cuda_nvrtc"):
        stale = rest != compile_ptx(source)
    if stale:
        sys.exit("kernels.ptx is not what kernels.cu gives: run python crates/gpu/ptx.py")


def main() -> None:
    folder = pathlib.Path(__file__).parent / "src"
    source, kept = (folder / "kernels.cu").read_bytes(), folder / "kernels.ptx"
    if "--check" in sys.argv[1:]:
        return check(source, kept.read_text() if kept.exists() else "")
    made = compile_ptx(source)
    kept.write_text(checksum(source, made) + made)


if __name__ == "__main__":
    main()
