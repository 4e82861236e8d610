"""The messages of a Perfetto trace that are read, from the published schema.

Source: ``protos/perfetto/trace/perfetto_trace.proto`` of Perfetto v59 (Apache 2.0). Fields that are not
named here are skipped by the decoder. Texts are declared ``bytes``, which is the same on the wire:
they need not be UTF-8, and most of them are looked up without being decoded. Annotations, interned data and
defaults are ``bytes`` as well: packets come with none or with ones that came before.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

DECODE_ERRORS = (DecodeError, RecursionError, ValueError)
"""What decoding a damaged message raises."""

_PACKAGE = "torch_tb_profiler.perfetto"
_ONE_OF = "|"
"""Begins the fields of which a message has one at most."""
_REPEATED = "[]"

_MESSAGES = """
Trace: packet TracePacket[] 1
TracePacket: timestamp uint64 8, trusted_packet_sequence_id uint32 10, interned_data bytes 12, sequence_flags uint32 13,
    incremental_state_cleared bool 41, timestamp_clock_id uint32 58, trace_packet_defaults bytes 59,
    | ftrace_events bytes 1, process_tree bytes 2, clock_snapshot ClockSnapshot 6, track_event TrackEvent 11, trace_config bytes 33,
    trace_stats bytes 35, synchronization_marker bytes 36, process_descriptor ProcessDescriptor 43, thread_descriptor ThreadDescriptor 44,
    system_info bytes 45, compressed_packets bytes 50, gpu_counter_event GpuCounterEvent 52, gpu_render_stage_event GpuRenderStageEvent 53,
    track_descriptor TrackDescriptor 60, service_event bytes 69, trace_uuid bytes 89, zstd_compressed_packets bytes 133
ClockSnapshot: clocks Clock[] 1, primary_trace_clock uint32 2
Clock: clock_id uint32 1, timestamp uint64 2, is_incremental bool 3, unit_multiplier_ns uint64 4
TracePacketDefaults: track_event_defaults TrackEventDefaults 11, timestamp_clock_id uint32 58
TrackEventDefaults: track_uuid uint64 11, extra_counter_track_uuids uint64[] 31, extra_double_counter_track_uuids uint64[] 45
TrackDescriptor: uuid uint64 1, name bytes 2, process ProcessDescriptor 3, thread ThreadDescriptor 4, parent_uuid uint64 5,
    counter CounterDescriptor 8, static_name bytes 10, atrace_name bytes 13
ProcessDescriptor: pid int32 1, cmdline bytes[] 2, process_name bytes 6
ThreadDescriptor: pid int32 1, tid int64 2, thread_name bytes 5
CounterDescriptor: unit int32 3, unit_multiplier int64 4, is_incremental bool 5, unit_name bytes 6
TrackEvent: category_iids uint64[] 3, debug_annotations bytes[] 4, type int32 9, name_iid uint64 10, track_uuid uint64 11,
    extra_counter_values int64[] 12, categories bytes[] 22, name bytes 23, counter_value int64 30, extra_counter_track_uuids uint64[] 31,
    flow_ids_old uint64[] 36, terminating_flow_ids_old uint64[] 42, double_counter_value double 44,
    extra_double_counter_track_uuids uint64[] 45, extra_double_counter_values double[] 46, flow_ids fixed64[] 47, terminating_flow_ids fixed64[] 48
DebugAnnotation: name_iid uint64 1, name bytes 10, dict_entries DebugAnnotation[] 11, array_values DebugAnnotation[] 12,
    | bool_value bool 2, uint_value uint64 3, int_value int64 4, double_value double 5, string_value bytes 6, pointer_value uint64 7,
    nested_value NestedValue 8, legacy_json_value bytes 9, proto_value bytes 14, string_value_iid uint64 17
NestedValue: nested_type int32 1, dict_keys bytes[] 2, dict_values NestedValue[] 3, array_values NestedValue[] 4,
    | int_value int64 5, double_value double 6, bool_value bool 7, string_value bytes 8
InternedData: event_categories InternedName[] 1, event_names InternedName[] 2, debug_annotation_names InternedName[] 3,
    gpu_specifications InternedName[] 24, debug_annotation_string_values InternedName[] 29, gpu_counter_descriptors InternedGpuCounterDescriptor[] 47,
    compute_kernels InternedComputeKernel[] 1000, compute_arg_names InternedName[] 1001
InternedName: iid uint64 1, name bytes 2
InternedComputeKernel: iid uint64 1, name bytes 2, demangled_name bytes 3
InternedGpuCounterDescriptor: iid uint64 1, counter_descriptor GpuCounterDescriptor 2, gpu_id int32 3
GpuCounterDescriptor: specs GpuCounterSpec[] 1
GpuCounterSpec: counter_id uint32 1, name bytes 2
GpuCounterEvent: counter_descriptor GpuCounterDescriptor 1, counters GpuCounter[] 2, gpu_id int32 3, counter_descriptor_iid uint64 4
GpuCounter: counter_id uint32 1, | int_value int64 2, double_value double 3
GpuRenderStageEvent: event_id uint64 1, duration uint64 2, hw_queue_id int32 3, stage_id int32 4, extra_data ExtraData[] 6,
    specifications Specifications 7, gpu_id int32 11, hw_queue_iid uint64 13, stage_iid uint64 14, name bytes 17, kernel_iid uint64 19, name_iid uint64 20,
    launch ComputeKernelLaunch 21
ExtraData: name bytes 1, value bytes 2
Specifications: hw_queue Description[] 2, stage Description[] 3
Description: name bytes 1
ComputeKernelLaunch: grid_size Dim3 1, workgroup_size Dim3 2, args ExtraComputeArg[] 3
Dim3: x uint32 1, y uint32 2, z uint32 3
ExtraComputeArg: name_iid uint64 1, name bytes 2, | int_value int64 3, uint_value uint64 4, double_value double 5, string_value bytes 6
"""

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
"""``TrackEvent.Type``."""
CLEARED = 1
"""Flag of ``sequence_flags``: what was interned before is forgotten."""
REALTIME, BOOTTIME = 1, 6
"""``BuiltinClock``."""
OWN_CLOCKS = range(64, 128)
"""Ids of clocks of a sequence of packets."""

_Field = descriptor_pb2.FieldDescriptorProto


def _file() -> Any:
    """The descriptor of ``_MESSAGES``."""
    file = descriptor_pb2.FileDescriptorProto(
        name="torch_tb_profiler/perfetto.proto", package=_PACKAGE, syntax="proto2"
    )
    for line in _MESSAGES.replace("\n    ", " ").strip().splitlines():
        name, _, fields = line.partition(": ")
        message = file.message_type.add(name=name)
        one_of = False
        for text in fields.split(", "):
            if text.startswith(_ONE_OF):
                message.oneof_decl.add(name="data")
                one_of = True
            field, kind, number = text.removeprefix(_ONE_OF).split()
            added = message.field.add(name=field, number=int(number))
            repeated, kind = kind.endswith(_REPEATED), kind.removesuffix(_REPEATED)
            added.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if kind[0].isupper():
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                added.type = getattr(_Field, f"TYPE_{kind.upper()}")
            if one_of:
                added.oneof_index = 0
    return file


_POOL = descriptor_pool.DescriptorPool()
_POOL.Add(_file())


def message(name: str) -> Any:
    """The class of a message; its ``FromString`` raises ``DECODE_ERRORS``."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Trace = message("Trace")
TracePacket = message("TracePacket")
DebugAnnotation = message("DebugAnnotation")
InternedData = message("InternedData")
TracePacketDefaults = message("TracePacketDefaults")
