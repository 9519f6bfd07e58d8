"""Makes src/kernels.ptx from src/kernels.cu with NVRTC 12.0, which needs neither a GPU nor a driver.

    pip install nvidia-cuda-nvrtc-cu12==12.0.76
    python crates/gpu/ptx.py            # writes kernels.ptx
    python crates/gpu/ptx.py --check    # exit code 1 if it is not what kernels.cu gives

PTX of this version loads with every driver for CUDA 12 or newer, on Volta and newer devices.
"""

import ctypes
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


def main() -> None:
    folder = pathlib.Path(__file__).parent / "src"
    made = compile_ptx((folder / "kernels.cu").read_bytes())
    kept = folder / "kernels.ptx"
    if "--check" in sys.argv[1:]:
        if not kept.exists() or kept.read_text() != made:
            sys.exit("kernels.ptx is not what kernels.cu gives: run python crates/gpu/ptx.py")
        return
    kept.write_text(made)


if __name__ == "__main__":
    main()
