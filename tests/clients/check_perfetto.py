#!/usr/bin/env python3
"""Perfetto's own schema reads our Perfetto traces, and they keep its rules.

    check_perfetto.py RIDGELINE

Runs in an environment that has the `perfetto` package from PyPI, whose perfetto_trace_pb2 is the schema that Perfetto's own tools use.
(Its trace processor is a program that the package downloads at run time; this test needs no network.) Checked: nothing in the file
is unknown to the schema; every track is described before it is used; slices open and close in order and nest; times of a sequence
never go back; every flow begins on a host call and ends on a kernel; kernels, their sum and their union are what `ridgeline trace` says.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

RUNS = {
    "eager": ["run", "e_gaps", "--set", "workload.output_tokens=6"],
    "graphs": ["run", "chat_8b", "--set", "workload.requests=3"],
}


def unknown_fields(message, where=""):
    """Paths of fields that the schema does not know; the Python runtime keeps them when it parses and drops them on request."""
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return before - message.ByteSize()


def check(program, name, arguments, folder):
    run, file = folder / name, folder / f"{name}.pftrace"
    subprocess.run([program, *arguments, "--out", run, "--quiet", "--json"], check=True, capture_output=True)
    command = [program, "trace", run, "--out", file, "--format", "perfetto", "--json"]
    ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    trace = schema.Trace()
    trace.ParseFromString(file.read_bytes())
    assert unknown_fields(trace) == 0, f"{name}: the trace has fields that Perfetto's schema does not"

    event = schema.TrackEvent
    tracks, stacks = {}, collections.defaultdict(list)
    last_time, flow_ends = {}, collections.defaultdict(list)
    kernels = []
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            parent = track.parent_uuid
            assert parent == 0 or parent in tracks, f"{name}: a track's parent {parent} is not described before it"
            tracks[track.uuid] = track
        if not packet.HasField("track_event"):
            continue
        sequence, e = packet.trusted_packet_sequence_id, packet.track_event
        assert sequence != 0, f"{name}: an event without a sequence"
        assert packet.timestamp >= last_time.get(sequence, 0), f"{name}: time goes back at {packet.timestamp}"
        last_time[sequence] = packet.timestamp
        assert e.track_uuid in tracks, f"{name}: an event on a track that nobody described"
        stack = stacks[e.track_uuid]
        if e.type == event.TYPE_SLICE_BEGIN:
            assert e.name, f"{name}: a slice without a name at {packet.timestamp}"
            stack.append((packet.timestamp, e.name, tracks[tracks[e.track_uuid].parent_uuid]))
            for flow in e.flow_ids:
                flow_ends[flow].append((packet.timestamp, stack[-1][2].process.process_name))
        elif e.type == event.TYPE_SLICE_END:
            assert stack, f"{name}: a slice ends that did not begin, at {packet.timestamp}"
            begin, slice_name, process = stack.pop()
            if process.process.process_name.startswith("GPU"):
                kernels.append((begin, packet.timestamp))
        elif e.type == event.TYPE_COUNTER:
            assert tracks[e.track_uuid].HasField("counter"), f"{name}: a counter's value on a track that is no counter"
    left_open = sum(len(stack) for stack in stacks.values())
    assert left_open == 0, f"{name}: {left_open} slices never end"
    for flow, ends in flow_ends.items():
        assert len(ends) >= 2, f"{name}: flow {flow} has one end only"
        first, last = ends[0], ends[-1]
        assert not first[1].startswith("GPU") and last[1].startswith("GPU"), f"{name}: flow {flow} goes from {first} to {last}"

    total = sum(end - begin for begin, end in kernels)
    ours_total = sum(row["total_ns"] for row in ours["kernels_by_class"])
    assert len(kernels) == ours["kernels"], f"{name}: {len(kernels)} kernels in the file, {ours['kernels']} by us"
    assert total == ours_total, f"{name}: the file's kernels take {total} ns, ours {ours_total}"
    busy, end = 0, None
    for begin, stop in sorted(kernels):
        if end is None or begin > end:
            busy, end = busy + stop - begin, stop
        elif stop > end:
            busy, end = busy + stop - end, stop
    assert busy == ours["busy_ns"], f"{name}: the file's device is busy {busy} ns, ours {ours['busy_ns']}"
    print(f"ok: {name}: {len(kernels)} kernels, {len(tracks)} tracks, {len(flow_ends)} flows by Perfetto's schema, busy {busy} ns by both")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in RUNS.items():
            check(program, name, arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
