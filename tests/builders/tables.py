"""The tables of both profilers' databases, a line each: ``TABLE since..until: column column …``.

Marks of a column: ``!`` NOT NULL, ``#`` primary key, ``:t`` TEXT, ``:r`` REAL, ``:b`` BLOB, else an
integer; ``@2025.6`` since that version.

Those of Nsight Systems up to 2023.4 are what ``nsys export --type sqlite --lazy=false`` of 2022.4.2
and 2023.4.4 writes, which makes every table there is; what is marked ``2025.6`` is from its User
Guide. Those of nvprof are what its library of 11.8 (``libcuinj64``) makes, all of them in every
file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KIND = {"": "INTEGER", "t": "TEXT", "r": "REAL", "b": "BLOB"}
_TABLE = re.compile(r"(\w+)(?: ([\d.]*)\.\.([\d.]*))?: (.*)")
_COLUMN = re.compile(r"(\w+)(!?)(#?)(?::([trb]))?(?:@([\d.]+))?")
OLDEST, OLDER, NEWEST = "2022.4", "2023.4", "2025.6"
_WORK = "start! end! deviceId! contextId! greenContextId@2023.4 streamId! correlationId globalPid"
_CALL = "start! end! eventClass! globalTid"
_MPI = "start! end globalTid textId"
_LABELS = "id!# name:t label:t"
_NODES = f"{_CALL} nameId! graphNodeId! originalGraphNodeId"

NSIGHT = f"""
StringIds: id!# value!:t
ThreadNames: nameId! priority globalTid
PROCESSES: globalPid pid name:t
EXPORT_META_DATA ..2022.4: name!:t value:t
META_DATA_EXPORT 2023.4..: name!:t value:t
ANALYSIS_DETAILS: globalVid! duration! startTime! stopTime!
ENUM_CUDA_MEM_KIND: {_LABELS}
ENUM_CUDA_MEMCPY_OPER: {_LABELS}
TARGET_INFO_SESSION_START_TIME: utcEpochNs utcTime:t localTime:t
TARGET_INFO_GPU: vmId! id! name:t busLocation:t isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount pwGpuId uuid:t luid chipName:t cuDevice \
ctxswDevPath:t ctrlDevPath:t revision nodeMask constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm \
maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY \
maxGridDimZ computeMajor computeMinor smMajor smMinor
TARGET_INFO_CUDA_DEVICE 2025.6..: gpuId cudaId! pid! uuid:t numMultiprocessors
TARGET_INFO_NVTX_CUDA_STREAM: name!:t hwId! vmId! processId! deviceId! contextId! streamId!
CUPTI_ACTIVITY_KIND_KERNEL: {_WORK} demangledName! shortName! mangledName launchType cacheConfig registersPerThread! gridX! gridY! gridZ! blockX! blockY! \
blockZ! staticSharedMemory! dynamicSharedMemory! localMemoryPerThread! localMemoryTotal! gridId! sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig
CUPTI_ACTIVITY_KIND_MEMCPY: {_WORK} bytes! copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId migrationCause \
graphNodeId virtualAddress
CUPTI_ACTIVITY_KIND_MEMSET: {_WORK} value! bytes! graphNodeId memKind
CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {_WORK} syncType! eventId!
CUPTI_ACTIVITY_KIND_GRAPH_TRACE 2025.6..: {_WORK} graphId! graphExecId!
CUPTI_ACTIVITY_KIND_RUNTIME: {_CALL} correlationId nameId! returnValue! callchainId
CUDA_GRAPH_EVENTS ..2023.4: {_NODES}
CUDA_GRAPH_NODE_EVENTS 2025.6..: {_NODES}
CUBLAS_EVENTS: {_CALL} nameId!
CUDNN_EVENTS: {_CALL} nameId!
OSRT_API: {_CALL} nameId! returnValue! nestingLevel callchainId!
PROFILER_OVERHEAD: start! end! globalTid nameId! returnValue!
NVTX_EVENTS: start! end eventType! rangeId category color text:t globalTid endGlobalTid textId domainId uint64Value int64Value doubleValue:r uint32Value \
int32Value floatValue:r jsonTextId jsonText:t
CUDA_GPU_MEMORY_USAGE_EVENTS: start! globalPid! deviceId! contextId! address! pc! bytes! memKind! memoryOperationType! name:t correlationId \
localMemoryPoolAddress localMemoryPoolReleaseThreshold localMemoryPoolSize localMemoryPoolUtilizedSize importedMemoryPoolAddress importedMemoryPoolProcessId
CUDA_GPU_MEMORY_POOL_EVENTS: start! globalPid! deviceId! address! operationType! poolType! correlationId minBytesToKeep localMemoryPoolReleaseThreshold \
localMemoryPoolSize localMemoryPoolUtilizedSize
DIAGNOSTIC_EVENT 2025.6..: timestamp timestampType! source! severity! text!:t globalPid
TARGET_INFO_GPU_METRICS 2023.4..: typeId! sourceId! typeName!:t metricId! metricName!:t
GPU_METRICS 2023.4..: rawTimestamp!@2025.6 timestamp typeId! metricId! value!
GENERIC_EVENTS 2023.4..: rawTimestamp! timestamp typeId! data!:t
TARGET_INFO_NETWORK_METRICS 2023.4..: metricsListId! metricsIdx! name!:t description!:t unit!:t
TARGET_INFO_NIC_INFO 2023.4..: GUID! stateName!:t nicId! name!:t deviceId! vendorId! linkLayer!
NIC_ID_MAP 2023.4..: nicId! globalId!
NET_NIC_METRIC 2023.4..: start! end! globalId! metricsListId! metricsIdx! value!
NET_IB_SWITCH_METRIC 2023.4..: start! end! globalId! metricsListId! metricsIdx! value!
MPI_P2P_EVENTS 2023.4..: {_MPI} commHandle tag remoteRank size requestHandle
MPI_COLLECTIVES_EVENTS 2023.4..: {_MPI} commHandle rootRank size recvSize requestHandle
MPI_START_WAIT_EVENTS 2023.4..: {_MPI} requestHandle
MPI_OTHER_EVENTS 2023.4..: {_MPI}
MPI_RANKS 2023.4..: globalTid! rank!
UCP_EVENTS 2023.4..: {_MPI}
COMPOSITE_EVENTS: id!# start! cpu threadState globalTid cpuCycles!
SCHED_EVENTS: start! cpu! isSchedIn! globalTid
CUDA_UM_GPU_PAGE_FAULT_EVENTS: start! end! globalPid! deviceId! address! numberOfPageFaults! faultAccessType!
SAMPLING_CALLCHAINS: id!# symbol! module! kernelMode thumbCode unresolved specialEntry originalIP unwindMethod stackDepth!#
"""

_KERNEL = (
    "cacheConfig:b sharedMemoryConfig registersPerThread partitionedGlobalCacheRequested"
    " partitionedGlobalCacheExecuted start end completed deviceId contextId streamId gridX gridY"
    " gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread"
    " localMemoryTotal correlationId gridId name queued submitted launchType"
    " isSharedMemoryCarveoutRequested sharedMemoryCarveoutRequested sharedMemoryExecuted"
    " graphNodeId shmemLimitConfig graphId pAccessPolicyWindow:b channelID channelType clusterX"
    " clusterY clusterZ clusterSchedulingPolicy localMemoryTotal_v2"
)
_API = "cbid start end processId threadId correlationId returnValue"
_OPENACC = (
    "eventKind parentConstruct version implicit deviceType deviceNumber threadId async asyncMap"
    " lineNo endLineNo funcLineNo funcEndLineNo start end cuDeviceId cuContextId cuStreamId"
    " cuProcessId cuThreadId externalId srcFile funcName"
)
_GRAPH = "graphNodeId graphId channelID channelType"

NVPROF = f"""
KERNEL: {_KERNEL}
CONCURRENT_KERNEL: {_KERNEL}
CDP_KERNEL: cacheConfig:b sharedMemoryConfig registersPerThread start end deviceId contextId streamId gridX gridY gridZ blockX blockY blockZ \
staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal correlationId gridId parentGridId queued submitted completed parentBlockX \
parentBlockY parentBlockZ name
RUNTIME: {_API}
DRIVER: {_API}
INTERNAL_LAUNCH_API: {_API}
MEMCPY: copyKind srcKind dstKind flags bytes start end deviceId contextId streamId correlationId runtimeCorrelationId {_GRAPH}
MEMCPY2: copyKind srcKind dstKind flags bytes start end deviceId contextId streamId srcDeviceId srcContextId dstDeviceId dstContextId correlationId {_GRAPH}
MEMSET: value bytes start end deviceId contextId streamId correlationId flags memoryKind {_GRAPH}
GRAPH_TRACE: correlationId start end deviceId graphId contextId streamId
SYNCHRONIZATION: type start end correlationId contextId streamId cudaEventId
OVERHEAD: overheadKind objectKind objectId:b start end
MARKER: flags timestamp id objectKind objectId:b name domain
MARKER_DATA: flags id payloadKind payload:b color category
NAME: objectKind objectId:b name
CONTEXT: contextId deviceId computeApiKind nullStreamId
DEVICE: flags globalMemoryBandwidth globalMemorySize constantMemorySize l2CacheSize numThreadsPerWarp coreClockRate numMemcpyEngines numMultiprocessors \
maxIPC maxWarpsPerMultiprocessor maxBlocksPerMultiprocessor maxSharedMemoryPerMultiprocessor maxRegistersPerMultiprocessor maxRegistersPerBlock \
maxSharedMemoryPerBlock maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeCapabilityMajor \
computeCapabilityMinor id eccEnabled uuid:b name isCudaVisible isMigEnabled gpuInstanceId computeInstanceId migUuid:b
MEMORY: memoryKind address bytes start end allocPC freePC processId deviceId contextId name
MEMORY2: memoryOperationType memoryKind correlationId address bytes timestamp PC processId deviceId contextId streamId name isAsync memoryPoolConfig:b
UNIFIED_MEMORY_COUNTER: counterKind value start end address srcId dstId streamId processId flags
ENVIRONMENT: deviceId timestamp environmentKind data:b
EVENT: id value domain correlationId
METRIC: id value:b correlationId flags
PC_SAMPLING: flags sourceLocatorId correlationId functionId latencySamples samples stallReason pcOffset
CUDA_EVENT: correlationId contextId streamId eventId
STREAM: contextId streamId priority flag correlationId
EXTERNAL_CORRELATION: externalKind externalId correlationId
BRANCH: sourceLocatorId correlationId functionId pcOffset diverged threadsExecuted executed
DEVICE_ATTRIBUTE: flags deviceId attribute:b value:b
EVENT_INSTANCE: id domain instance value correlationId
FUNCTION: id contextId moduleId functionIndex name
GLOBAL_ACCESS: flags sourceLocatorId correlationId functionId executed pcOffset threadsExecuted l2_transactions theoreticalL2Transactions
INSTANTANEOUS_EVENT: id value timestamp deviceId
INSTANTANEOUS_EVENT_INSTANCE: id value timestamp deviceId instance
INSTANTANEOUS_METRIC: id value:b timestamp deviceId flags
INSTANTANEOUS_METRIC_INSTANCE: id value:b timestamp deviceId flags instance
INSTRUCTION_CORRELATION: flags sourceLocatorId functionId pcOffset
INSTRUCTION_EXECUTION: flags sourceLocatorId correlationId functionId pcOffset threadsExecuted notPredOffThreadsExecuted executed
JIT: jitEntryType jitOperationType deviceId start end correlationId jitOperationCorrelationId cacheSize cachePath
MEMORY_POOL: memoryPoolOperationType memoryPoolType correlationId processId deviceId minBytesToKeep address size releaseThreshold timestamp \
utilizedSize
METRIC_INSTANCE: id value:b instance correlationId flags
MODULE: contextId id cubinSize cubin:b
NVLINK: nvlinkVersion typeDev0 typeDev1 idDev0:b idDev1:b flag physicalNvLinkCount portDev0:b portDev1:b bandwidth nvswitchConnected
OPENACC_DATA: {_OPENACC} bytes hostPtr devicePtr varName
OPENACC_LAUNCH: {_OPENACC} numGangs numWorkers vectorLength kernelName
OPENACC_OTHER: {_OPENACC}
OPENMP: eventKind version threadId start end cuProcessId cuThreadId
PCIE: type id:b domain pcieGeneration linkRate linkWidth upstreamBus attr:b
PC_SAMPLING_RECORD_INFO: correlationId totalSamples droppedSamples samplingPeriodInCycles
PREEMPTION: preemptionKind timestamp gridId blockX blockY blockZ
SHARED_ACCESS: flags sourceLocatorId correlationId functionId pcOffset threadsExecuted sharedTransactions theoreticalSharedTransactions executed
SOURCE_LOCATOR: id lineNumber fileName
"""
"""Without ``CUPTI_ACTIVITY_KIND_``, and without the number of each row, ``_id_``."""


@dataclass(frozen=True)
class Column:
    """A column of a table. ``kind``: ``INTEGER``, ``TEXT``, ``REAL`` or ``BLOB``."""

    name: str
    kind: str
    required: bool
    key: bool


def tables(text: str, version: str = NEWEST) -> dict[str, list[Column]]:
    """The tables of a version."""
    declared_tables = {}
    for line in text.strip().splitlines():
        declared = _TABLE.fullmatch(line)
        assert declared is not None, line
        table, since, until, columns = declared.groups()
        if (since or version) <= version <= (until or version):
            marked = [m for m in map(_COLUMN.fullmatch, columns.split()) if m is not None]
            assert len(marked) == len(columns.split()), line
            declared_tables[table] = [
                Column(m[1], _KIND[m[4] or ""], bool(m[2]), bool(m[3]))
                for m in marked
                if (m[5] or version) <= version
            ]
    return declared_tables


def declared(columns: list[Column]) -> list[str]:
    """Columns as ``CREATE TABLE`` has them."""
    keys = [c.name for c in columns if c.key]
    written = [
        f"{c.name} {c.kind}{' NOT NULL' * c.required}{' PRIMARY KEY' * (keys == [c.name])}"
        for c in columns
    ]
    return [*written, f"PRIMARY KEY ({', '.join(keys)})"] if len(keys) > 1 else written
