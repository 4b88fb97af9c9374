"""Closes the kernel's keyrings to fenced programs that would find those of their user: keys of disks, tickets of a network.

An ordinary user's programs get keyrings of their own with their user namespace. The superuser's have no such namespace, and
nobody's have one with Landlock. The system calls are refused by a filter.
"""

from __future__ import annotations

import ctypes
import struct

_LOAD, _AND, _IS, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06
_NUMBER, _MACHINE = 0, 4
"""Where a filter finds the number of a system call, and the kind of machine code that makes it."""
_ALLOW, _UNKNOWN_CALL = 0x7FFF0000, 0x00050000 | 38
_NOT_X32 = 0xBFFFFFFF
_FIRST = {0xC000003E: 248, 0x40000003: 286, 0xC00000B7: 217, 0x40000028: 309}
"""Kind of machine code → `add_key`, after which come `request_key` and `keyctl`: x86 with 64 and 32 bits, Arm with 64 and 32."""
_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER = 38, 22, 2


def close() -> None:
    """Refuse the system calls of keyrings to this process and all that it starts."""
    code = b"".join(map(_refusing, _FIRST)) + _step(_RETURN, _ALLOW)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_SET_FILTER, _FILTER, ctypes.c_char_p(program), 0, 0)


def _refusing(machine: int) -> bytes:
    first = _FIRST[machine]
    return b"".join(
        (
            _step(_LOAD, _MACHINE),
            _step(_IS, machine, otherwise=6),  # past the end of this part
            _step(_LOAD, _NUMBER),
            _step(_AND, _NOT_X32),
            _step(_AT_LEAST, first, otherwise=2),
            _step(_ABOVE, first + 2, then=1),
            _step(_RETURN, _UNKNOWN_CALL),
            _step(_RETURN, _ALLOW),
        )
    )


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)
