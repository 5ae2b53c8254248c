"""The blocks of docs/format.md, for reader.py and pages.py: what a value of the table events holds.

Needs libzstd where a log is sealed.
"""
import ctypes
import ctypes.util
import struct

COLUMNS = struct.calcsize(">IBIqBI")
BYTES_MAX = 512 * (COLUMNS + 255) + (16 << 20)


class Malformed(Exception):
    pass


def records(key, value):
    """Pairs of sequence and record: one of a record, up to 512 of a block."""
    (last,) = struct.unpack(">Q", key)
    if not value or value[0] != 2:
        return [(last, value)]
    try:
        return list(opened(last, value))
    except struct.error as error:
        raise Malformed("a block is cut off") from error


def opened(last, value):
    (count,) = struct.unpack_from(">H", value, 1)
    (secret_bytes,) = struct.unpack_from(">I", value, 3 + 32 * count)
    start = 7 + 32 * count
    hashes, secrets = value[3 : start - 4], value[start : start + secret_bytes]
    content = decompressed(value[start + secret_bytes :])

    def column(offset, code):
        return struct.unpack_from(">%d%s" % (count, code), content, offset * count)

    steps, states, lanes = column(0, "I"), column(4, "B"), column(5, "I")
    times, key_lengths, lengths = column(9, "q"), column(17, "B"), column(18, "I")
    if not 1 <= count <= 512 or len(content) != 22 * count + sum(key_lengths) + sum(lengths):
        raise Malformed("a block has other bytes than it says")
    keys, payloads, secret, time = 22 * count, 22 * count + sum(key_lengths), 0, 0
    sequence = last - sum(steps)
    for place in range(count):
        if (steps[place] == 0) != (place == 0):
            raise Malformed("the sequences of a block do not ascend")
        sequence, time = sequence + steps[place], time + times[place]
        size = 32 if states[place] else 16
        head = struct.pack(">BBIqB", 1, states[place], lanes[place], time, key_lengths[place])
        yield sequence, b"".join(
            (
                head,
                hashes[32 * place : 32 * place + 32],
                secrets[secret : secret + size],
                content[keys : keys + key_lengths[place]],
                content[payloads : payloads + lengths[place]],
            )
        )
        secret, keys, payloads = secret + size, keys + key_lengths[place], payloads + lengths[place]
    if secret != len(secrets):
        raise Malformed("a block has other salts than it says")


def decompressed(frame):
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    library.ZSTD_decompress.restype = ctypes.c_size_t
    size = library.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    if size > BYTES_MAX:
        raise Malformed("a block is no Zstandard frame, or too large")
    room = ctypes.create_string_buffer(size)
    if library.ZSTD_decompress(room, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame))) != size:
        raise Malformed("a block is damaged")
    return room.raw
