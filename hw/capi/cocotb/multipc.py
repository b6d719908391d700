"""The C interface of multipc from Python: routers as clocked objects.

Only the standard library; structures and constants are those of include/multipc.h.
"""

import ctypes
import os
from pathlib import Path

ABI_VERSION = 2
PORTS = 8
TABLE_BYTES = 258
NO_SIGNAL = 0x400
FCC_PULSE = 0x200
EP = 0x12B
IDLE = 0x1AB


class Error(Exception):
    """A call failed; the text is the library's."""


class _Config(ctypes.Structure):
    _fields_ = [("parallel", ctypes.c_uint8), ("quick", ctypes.c_uint8)]


class _Inputs(ctypes.Structure):
    _fields_ = [("lines", ctypes.c_uint16 * PORTS)]


class _Outputs(ctypes.Structure):
    _fields_ = [("lines", ctypes.c_uint16 * PORTS), ("link_status", ctypes.c_uint8)]


def _load():
    default = Path(__file__).resolve().parents[1] / "target/release/libmultipc_capi.so"
    library = ctypes.CDLL(os.environ.get("MULTIPC_LIBRARY", str(default)))
    library.multipc_last_error.restype = ctypes.c_char_p
    library.multipc_abi_version.restype = ctypes.c_uint32
    library.multipc_rcube_free.restype = None
    version = library.multipc_abi_version()
    if version != ABI_VERSION:
        raise Error(f"library of version {version}, this file is for {ABI_VERSION}")
    return library


_library = _load()


def _check(status):
    if status != 0:
        raise Error(_library.multipc_last_error().decode())


def uniform_table(bounds, selections):
    """The table in which every input has these eight bounds and selections."""
    table = (ctypes.c_uint8 * TABLE_BYTES)()
    _check(
        _library.multipc_table_uniform(
            (ctypes.c_uint16 * PORTS)(*bounds), (ctypes.c_uint8 * PORTS)(*selections), table
        )
    )
    return bytes(table)


class Rcube:
    """One router. `lines` and `link_status` are what its pins carry."""

    def __init__(self, parallel=0, quick=False):
        self._handle = ctypes.c_void_p()
        config = _Config(parallel, quick)
        _check(_library.multipc_rcube_new(ctypes.byref(config), ctypes.byref(self._handle)))
        self._inputs, self._outputs = _Inputs(), _Outputs()
        _check(_library.multipc_rcube_pins(self._handle, ctypes.byref(self._outputs)))

    def configure(self, table):
        """Shifts a table in and releases the router."""
        if len(table) != TABLE_BYTES:
            raise ValueError(f"table of {len(table)} bytes, must be {TABLE_BYTES}")
        _check(_library.multipc_rcube_configure(self._handle, bytes(table)))

    def step(self, lines):
        """One link clock edge that samples these eight lines."""
        self._inputs.lines[:] = lines
        _check(
            _library.multipc_rcube_step(
                self._handle, ctypes.byref(self._inputs), ctypes.byref(self._outputs)
            )
        )

    @property
    def lines(self):
        return list(self._outputs.lines)

    @property
    def link_status(self):
        return self._outputs.link_status

    def __del__(self):
        if self._handle:
            _library.multipc_rcube_free(self._handle)
            self._handle = None
