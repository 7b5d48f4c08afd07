"""Gradwire's codecs from Python: libgradwire_codecs.so by ctypes, without a build.

    from gradwire_torch.codecs import Codec
    codec = Codec("terngrad", clip=2.5)
    payload = codec.encode(values)            # a float32 tensor on the CPU -> bytes
    back = codec.decode(payload, values.shape)

The bytes are those of the program (docs/wire-formats.md): a ported codec can be held against them.
"""

import ctypes
import os
import pathlib

import torch

LIBRARY_VARIABLE = "GRADWIRE_CODECS"
_ABI = 1
_NAME = "libgradwire_codecs.so"


class CodecError(RuntimeError):
    """What the library says: what was attempted, on what, and why it failed."""


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("dimensions", ctypes.c_size_t),
        ("elements", ctypes.c_size_t),
    ]


class _Draws(ctypes.Structure):
    _fields_ = [
        ("seed", ctypes.c_uint64),
        ("step", ctypes.c_uint32),
        ("worker", ctypes.c_uint32),
        ("tensor", ctypes.c_uint32),
    ]


def _places():
    given = os.environ.get(LIBRARY_VARIABLE)
    if given:
        return [given]
    root = pathlib.Path(__file__).resolve().parents[2]
    built = sorted(root.glob(f"build/*/lib/{_NAME}"))
    installed = sorted(root.parents[1].glob(f"lib*/{_NAME}")) + sorted(
        root.parents[1].glob(f"lib/*/{_NAME}")
    )
    return [str(path) for path in built + installed] + [_NAME]


def _load():
    failures = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            failures.append(str(error))
            continue
        if library.gradwire_codecs_abi() != _ABI:
            failures.append(f"{place} is of another version")
            continue
        library.gradwire_codec_make.restype = ctypes.c_void_p
        library.gradwire_codec_name.restype = ctypes.c_char_p
        for size in ("max_encoded_size", "scratch_size", "state_size"):
            getattr(library, f"gradwire_codec_{size}").restype = ctypes.c_size_t
        return library
    raise CodecError(
        f"gradwire: cannot load {_NAME} ({'; '.join(failures)}); {LIBRARY_VARIABLE} names another"
    )


_library = None


def _text(value):
    return str(value).lower().encode() if isinstance(value, bool) else str(value).encode()


def _buffer(size):
    """Zeros, aligned to 8 bytes."""
    return (ctypes.c_uint64 * (size // 8 + 1))()


class Codec:
    """One of `gradwire codec list`, with its options. Immutable; state is the caller's (state())."""

    def __init__(self, name, error_feedback=False, **options):
        global _library
        if _library is None:
            _library = _load()
        keys = (ctypes.c_char_p * len(options))(*[key.encode() for key in options])
        values = (ctypes.c_char_p * len(options))(*[_text(value) for value in options.values()])
        error = ctypes.create_string_buffer(1024)
        self._codec = _library.gradwire_codec_make(
            name.encode(), keys, values, ctypes.c_size_t(len(options)), int(error_feedback), error,
            ctypes.c_size_t(len(error)),
        )
        if not self._codec:
            raise CodecError("gradwire: " + error.value.decode(errors="replace"))
        self._codec = ctypes.c_void_p(self._codec)
        self.name = _library.gradwire_codec_name(self._codec).decode()
        self.wants_shared_scale = bool(_library.gradwire_codec_wants_shared_scale(self._codec))

    def __del__(self):
        if getattr(self, "_codec", None) and _library is not None:
            _library.gradwire_codec_free(self._codec)

    def _describe(self, shape, name=""):
        shape = [int(dimension) for dimension in shape]
        dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        elements = 1
        for dimension in shape:
            elements *= dimension
        described = _Tensor(name.encode(), dims, len(shape), elements)
        described.keep = dims
        return described

    def _size(self, which, tensor):
        return getattr(_library, f"gradwire_codec_{which}")(self._codec, ctypes.byref(tensor))

    def _call(self, function, *arguments):
        error = ctypes.create_string_buffer(1024)
        if function(*arguments, error, ctypes.c_size_t(len(error))):
            raise CodecError("gradwire: " + error.value.decode(errors="replace"))

    @staticmethod
    def _values(values):
        if values.dtype != torch.float32 or values.device.type != "cpu":
            raise CodecError(f"gradwire: {values.dtype} on {values.device} is no float32 on the CPU")
        return values.detach().contiguous()

    def state(self, shape, name=""):
        """Fresh state for tensors of this shape; encode changes it."""
        return _buffer(self._size("state_size", self._describe(shape, name)))

    def local_scale(self, values, state=None, name=""):
        """The scale that this worker proposes; workers take the largest."""
        values = self._values(values)
        tensor = self._describe(values.shape, name)
        scale = ctypes.c_float()
        self._call(
            _library.gradwire_codec_local_scale, self._codec, ctypes.byref(tensor),
            ctypes.c_void_p(values.data_ptr()), state if state is not None else self.state(values.shape),
            _buffer(self._size("scratch_size", tensor)), ctypes.byref(scale),
        )
        return scale.value

    def encode(self, values, state=None, shared_scale=-1.0, seed=0, step=0, worker=0, number=0, name=""):
        """The payload as bytes. `number`: of the tensor, for its random draws."""
        values = self._values(values)
        tensor = self._describe(values.shape, name)
        payload = ctypes.create_string_buffer(max(1, self._size("max_encoded_size", tensor)))
        written = ctypes.c_size_t()
        draws = _Draws(seed, step, worker, number)
        self._call(
            _library.gradwire_codec_encode, self._codec, ctypes.byref(tensor),
            ctypes.c_void_p(values.data_ptr()), ctypes.byref(draws), ctypes.c_float(shared_scale),
            state if state is not None else self.state(values.shape),
            _buffer(self._size("scratch_size", tensor)), payload, ctypes.byref(written),
        )
        return payload.raw[: written.value]

    def decode(self, payload, shape, into=None, factor=1.0, shared_scale=-1.0, name=""):
        """A new tensor, or `into` += factor * decoded."""
        values = torch.empty(tuple(shape)) if into is None else into
        if not values.is_contiguous() or values.dtype != torch.float32 or values.device.type != "cpu":
            raise CodecError("gradwire: only into contiguous float32 on the CPU")
        tensor = self._describe(values.shape, name)
        payload = bytes(payload)
        self._call(
            _library.gradwire_codec_decode, self._codec, ctypes.byref(tensor), payload,
            ctypes.c_size_t(len(payload)), ctypes.c_float(shared_scale), int(into is not None),
            ctypes.c_float(factor), _buffer(self._size("scratch_size", tensor)),
            ctypes.c_void_p(values.data_ptr()),
        )
        return values
