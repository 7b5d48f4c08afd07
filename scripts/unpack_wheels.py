"""unpack_wheels.py WHEELS DEPS cpu|gpu: unpacks headers and libraries of the wheels under DEPS."""
import os
import sys
import zipfile

TORCH_GPU = ("libtorch_cuda", "libtorch_nvshmem", "libcaffe2_nvrtc", "libc10_cuda", "libtorch_cuda_linalg")


def wanted(name, gpu):
    """Whether a member is needed to build or run; Python code and tools are not."""
    base = os.path.basename(name)
    if name.startswith("torch/"):
        if name.startswith("torch/include/"):
            return True
        if not name.startswith("torch/lib/") or base.startswith(("libtorch_python", "libshm")):
            return False
        return gpu or not base.startswith(TORCH_GPU)
    if name.startswith("nvidia/"):
        return "/lib/" in name
    if name.startswith("ns3/"):
        return name.startswith(("ns3/include/", "ns3/lib64/"))
    return False


def main():
    wheels, deps, kind = sys.argv[1:4]
    for file in sorted(os.listdir(wheels)):
        if not file.endswith(".whl"):
            continue
        target = os.path.join(deps, "ns3" if file.startswith("ns3-") else "torch")
        with zipfile.ZipFile(os.path.join(wheels, file)) as archive:
            for name in archive.namelist():
                if wanted(name, kind == "gpu"):
                    archive.extract(name, target)


main()
