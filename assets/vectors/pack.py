#!/usr/bin/env python3
"""Packs a folder of golden vectors in JSON lines into tessellator.bin, next to this file.

    python3 assets/vectors/pack.py FOLDER

The format is in README.md here. Needs nothing but Python 3.8; the same input always gives the same bytes.
"""

import json
import pathlib
import struct
import sys
import zlib

DOMAINS = ["isoline", "tri", "quad"]
PARTITIONINGS = ["integer", "pow2", "fractional_odd", "fractional_even"]
TOPOLOGIES = ["point", "line", "triangle_cw", "triangle_ccw"]
MAGIC = b"PWGOLD\0\x01"


def fixed(digits):
    """The 16.16 fixed-point location that these 8 hex digits of an f32 are."""
    location = struct.unpack(">f", bytes.fromhex(digits))[0] * 65536
    assert 0 <= location <= 65536 and location == int(location), digits
    assert struct.pack(">f", location / 65536).hex() == digits, digits
    return int(location)


def column(data):
    deflated = zlib.compress(data, 9)
    return struct.pack("<II", len(data), len(deflated)) + deflated


def main(folder):
    ids, heads, factors, hashes, low, middle, high, indices = (bytearray() for _ in range(8))
    count = 0
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            case = json.loads(line)
            count += 1
            assert "\n" not in case["id"]
            ids += case["id"].encode() + b"\n"
            listed = "uv" in case
            heads += struct.pack(
                "<BBBBHH",
                DOMAINS.index(case["domain"]),
                PARTITIONINGS.index(case["partitioning"]),
                TOPOLOGIES.index(case["topology"]),
                case["culled"] | listed << 1,
                case["points"],
                case["indices"],
            )
            for bits in case["factor_bits"]:
                factors += bytes.fromhex(bits)[::-1]
            hashes += bytes.fromhex(case["uv_fnv1a64"])[::-1] + bytes.fromhex(case["index_fnv1a64"])[::-1]
            if listed:
                locations = [fixed(digits) for uv in case["uv"] for digits in uv]
                assert len(locations) == 2 * case["points"] and len(case["index"]) == case["indices"]
                low += bytes(location & 255 for location in locations)
                middle += bytes(location >> 8 & 255 for location in locations)
                high += bytes(location >> 16 for location in locations)
                entry = 0
                for index in case["index"]:
                    assert index < 256
                    indices.append((index - entry) & 255)
                    entry = index
    packed = MAGIC + struct.pack("<I", count)
    for data in [ids, heads, factors, hashes, low, middle, high, indices]:
        packed += column(bytes(data))
    output = pathlib.Path(__file__).with_name("tessellator.bin")
    output.write_bytes(packed)
    print(f"{count} cases, {len(packed)} bytes: {output}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
