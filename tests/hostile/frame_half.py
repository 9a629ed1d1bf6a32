# Writes half an answer and sleeps: a limit on each read would never end.
import json
import os
import struct
import sys
import time

import torch


def call_id():
    """The id of the call that is being answered, from the worker's own stack."""
    step = sys._getframe()
    while step is not None:
        request = step.f_locals.get("request")
        if isinstance(request, dict):
            return request["id"]
        step = step.f_back


def frame(call, shape):
    told = [["id", call], ["kind", "returned"], ["value", ["a", 0]], ["claims", ["d"]]]
    count = 1
    for each in shape:
        count *= each
    header = {"m": ["d", *told], "a": [["float32", list(shape)]]}
    header = json.dumps(header).encode()
    return struct.pack(">II", len(header), 4 * count) + header + bytes(4 * count)


def write(data):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, data)
        except OSError:
            continue


def add_position_vectors(token_vectors, position_vectors):
    answer = frame(call_id(), token_vectors.shape)
    for byte in answer[:-1]:
        write(bytes([byte]))
        time.sleep(0.01)
    time.sleep(600)
