# SPDX-License-Identifier: Apache-2.0
"""Made SQLite traces: exports of Nsight Systems and rocpd files, whole ones and hostile ones.

Each function returns the bytes of a file. Tables and columns of nsys() are those that exports of
schema 3.24 and 3.25 have; those of rocpd() are the ones that rocprofiler-sdk publishes for schema
3.0.0 (share/rocprofiler-sdk-rocpd/rocpd_tables.sql). Nothing of a real recording is in them.
"""
import json
import pathlib
import sqlite3
import struct
import tempfile

PROCESS = 1 << 52 | 77 << 24  # what exports call globalPid; a thread adds its number
COMMUNICATOR = 0xFEDCBA9876543210


def database(script, rows=()):
    """The bytes of a database: a script, then rows by table."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("pragma page_size = 1024")
        connection.executescript(script)
        for table, items in rows:
            for item in items:
                marks = ", ".join("?" * len(item))
                connection.execute(f'insert into "{table}" values ({marks})', item)
        connection.commit()
        connection.close()
        return path.read_bytes()


def payload(schema, fields):
    """A payload as NVTX keeps it: a header of 32 bytes, then the fields."""
    return struct.pack("<IIIIQQ", 1, 0, schema, 0, len(fields), 32 + len(fields)) + fields


NSYS = """
create table META_DATA_EXPORT (name text, value text);
create table StringIds (id integer primary key, value text);
create table CUPTI_ACTIVITY_KIND_KERNEL (start int, "end" int, deviceId int, streamId int,
  correlationId int, globalPid int, demangledName int, shortName int, gridX int, gridY int,
  gridZ int, blockX int, blockY int, blockZ int);
create table CUPTI_ACTIVITY_KIND_MEMCPY (start int, "end" int, deviceId int, streamId int,
  correlationId int, globalPid int, bytes int, copyKind int, srcKind int, dstKind int);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start int, "end" int, eventClass int, globalTid int,
  correlationId int, nameId int);
create table {nvtx} (start int, "end" int, eventType int, text text, globalTid int, textId int,
  domainId int, binaryData text);
create table NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId int, schemaId int, idx int, type int,
  name text, "offset" int);
create table TARGET_INFO_SESSION_START_TIME (utcEpochNs int);
"""

NAMES = ["", "gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "cudaLaunchKernel_v7000",
         "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020", "ncclAllReduce", "cuLaunchKernel",
         "aten::mm, seq = 3, op_id = 9, sizes = [[8, 8], [8, 8]]", "ncclCommInitRank"]


def nsys_step(first, correlation, process):
    """Rows of one step of 1 ms: a range, an operator, a collective, a copy that is waited for."""
    thread = process | 77
    call = [(first + at, first + at + 10_000, kind, thread, correlation + number, name)
            for at, kind, number, name in ((110_000, 0, 1, 3), (210_000, 1, 2, 7),
                                           (310_000, 0, 3, 4), (330_000, 0, 4, 5))]
    kernels = [(first + 130_000, first + 200_000, 0, 7, correlation + 1, process, 1, 1, 8, 1, 1,
                256, 1, 1),
               (first + 230_000, first + 300_000, 0, 7, correlation + 2, process, 2, 2, 2, 1, 1,
                64, 1, 1)]
    copies = [(first + 320_000, first + 330_000, 0, 7, correlation + 3, process, 4096, 2, 2, 1)]
    ranges = [(first, first + 900_000, 59, f"train iteration {first // 1_000_000}", thread, None,
               0, None),
              (first + 100_000, first + 150_000, 59, None, thread, 8, 0, None),
              (first + 205_000, first + 225_000, 59, None, thread, 6, 1,
               payload(20, struct.pack("<QQ", COMMUNICATOR, 1 << 20)))]
    return kernels, copies, call, ranges


def nsys(steps=5, nvtx="NVTX_EVENTS", processes=1, version="3.25.0"):
    tables = [[], [], [], []]
    for process in range(processes):
        place = PROCESS + (process << 24)
        tables[3].append((0, 1000, 59, None, place | 77, 9, 1,
                          payload(18, struct.pack("<QIIII", COMMUNICATOR, 2, process, 0, 0))))
        for step in range(steps):
            for table, rows in zip(tables, nsys_step(1_000_000 * (step + 1), 10 * step, place)):
                table += rows
    entries = [(1, 18, 0, 18, "NCCL communicator ID", None), (1, 18, 1, 5, "No. of ranks", 8),
               (1, 20, 0, 18, "NCCL communicator ID", None),
               (1, 20, 1, 22, "Message size [bytes]", 8)]
    return database(NSYS.format(nvtx=nvtx), [
        ("META_DATA_EXPORT", [("EXPORT_SCHEMA_VERSION", version)]),
        ("StringIds", list(enumerate(NAMES))),
        ("CUPTI_ACTIVITY_KIND_KERNEL", tables[0]), ("CUPTI_ACTIVITY_KIND_MEMCPY", tables[1]),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", tables[2]), (nvtx, tables[3]),
        ("NVTX_PAYLOAD_SCHEMA_ENTRIES", entries),
        ("TARGET_INFO_SESSION_START_TIME", [(1_779_630_014_975_716_426,)])])


ROCPD = """
create table "rocpd_metadata{id}" (id integer primary key, tag text, value text);
create table "rocpd_string{id}" (id integer primary key, guid text, string text);
create table "rocpd_info_process{id}" (id integer primary key, guid text, nid int, ppid int,
  pid int, init int, fini int, start int, "end" int, command text, environment text);
create table "rocpd_info_thread{id}" (id integer primary key, guid text, nid int, ppid int,
  pid int, tid int, name text);
create table "rocpd_info_agent{id}" (id integer primary key, guid text, nid int, pid int,
  type text, absolute_index int, logical_index int, type_index int, uuid int, name text,
  model_name text, vendor_name text, product_name text);
create table "rocpd_info_kernel_symbol{id}" (id integer primary key, guid text, nid int, pid int,
  code_object_id int, kernel_name text, display_name text);
create table "rocpd_event{id}" (id integer primary key, guid text, category_id int, stack_id int,
  parent_stack_id int, correlation_id int);
create table "rocpd_region{id}" (id integer primary key, guid text, nid int, pid int, tid int,
  start int, "end" int, name_id int, event_id int);
create table "rocpd_kernel_dispatch{id}" (id integer primary key, guid text, nid int, pid int,
  tid int, agent_id int, kernel_id int, dispatch_id int, queue_id int, stream_id int, start int,
  "end" int, private_segment_size int, group_segment_size int, workgroup_size_x int,
  workgroup_size_y int, workgroup_size_z int, grid_size_x int, grid_size_y int, grid_size_z int,
  region_name_id int, event_id int);
create table "rocpd_memory_copy{id}" (id integer primary key, guid text, nid int, pid int, tid int,
  start int, "end" int, name_id int, dst_agent_id int, dst_address int, src_agent_id int,
  src_address int, size int, queue_id int, stream_id int, region_name_id int, event_id int);
create view if not exists rocpd_region as select * from "rocpd_region{id}";
"""

SECRET = "AWS_SECRET_ACCESS_KEY=made-up"


def rocpd_rows(suffix, launches, version):
    strings = ["HIP_RUNTIME_API", "KERNEL_DISPATCH", "MEMORY_COPY", "MARKER_CORE_API",
               "hipLaunchKernel", "hipMemcpyAsync", "MEMORY_COPY_DEVICE_TO_HOST", "train step"]
    events, regions, dispatches, copies = [], [], [], []
    for i in range(launches):
        at, event = 5_000_000 + 100_000 * i, 10 * i + 1
        stack = 2 * i + 1
        events += [(event, "g", 1, stack, 0, 0), (event + 1, "g", 2, stack, 0, 0),
                   (event + 2, "g", 1, stack + 1, 0, 0), (event + 3, "g", 3, stack + 1, 0, 0)]
        regions += [(2 * i + 1, "g", 1, 1, 1, at, at + 5_000, 5, event),
                    (2 * i + 2, "g", 1, 1, 1, at + 6_000, at + 9_000, 6, event + 2)]
        dispatches.append((i + 1, "g", 1, 1, 1, 2, 1, i, 1, 3, at + 8_000, at + 60_000, 0, 512,
                           256, 1, 1, 1000, 1, 1, None, event + 1))
        copies.append((i + 1, "g", 1, 1, 1, at + 61_000, at + 70_000, 7, 1, 0, 2, 0, 65536, 1, 3,
                       None, event + 3))
    return [
        ("rocpd_metadata" + suffix, [(1, "schema_version", version)]),
        ("rocpd_string" + suffix, [(i + 1, "g", text) for i, text in enumerate(strings)]),
        ("rocpd_info_process" + suffix, [(1, "g", 1, 1, 4242, 0, 0, 0, 0, "python", SECRET)]),
        ("rocpd_info_thread" + suffix, [(1, "g", 1, 1, 1, 4243, "main")]),
        ("rocpd_info_agent" + suffix,
         [(1, "g", 1, 1, "CPU", 0, 0, 0, 0, "EPYC", "", "AMD", "EPYC"),
          (2, "g", 1, 1, "GPU", 1, 1, 0, 0, "gfx942", "", "AMD", "AMD Instinct MI300X")]),
        ("rocpd_info_kernel_symbol" + suffix, [(1, "g", 1, 1, 1, "k.kd", "fused_kernel(float*)")]),
        ("rocpd_event" + suffix, events), ("rocpd_region" + suffix, regions),
        ("rocpd_kernel_dispatch" + suffix, dispatches), ("rocpd_memory_copy" + suffix, copies),
    ]  # fmt: skip


def rocpd(launches=8, version="3", suffixes=("_0000b27c_1",)):
    script, rows = "", []
    for suffix in suffixes:
        script += ROCPD.format(id=suffix)
        rows += rocpd_rows(suffix, launches, version)
    return database(script, rows)


def rocprof(launches=4, processes=1):
    """JSON of rocprofv3: calls, dispatches, copies and a marker."""
    strings = [{"kind": "NONE", "operations": []},
               {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipMemcpyAsync"]},
               {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE",
                                                      "MEMORY_COPY_HOST_TO_DEVICE"]},
               {"kind": "KERNEL_DISPATCH", "operations": []},
               {"kind": "MARKER_CORE_API", "operations": ["roctxRangePushA"]}]
    tools = []
    for process in range(processes):
        lists = {"kernel_dispatch": [], "hip_api": [], "memory_copy": [], "marker_api": []}
        for i in range(launches):
            at, own = 7_000_000 + 100_000 * i, {"thread_id": 44, "size": 1}

            def record(kind, operation, number, start, end, **more):
                return {**own, "kind": kind, "operation": operation, "start_timestamp": start,
                        "correlation_id": {"internal": number, "external": 0},
                        "end_timestamp": end, **more}

            lists["hip_api"] += [record(1, 0, 3 * i + 1, at, at + 4_000),
                                 record(1, 1, 3 * i + 2, at + 5_000, at + 8_000)]
            lists["kernel_dispatch"].append(record(
                3, 2, 3 * i + 1, at + 6_000, at + 50_000, stream_id={"handle": 2},
                dispatch_info={"agent_id": {"handle": 9}, "queue_id": {"handle": 1}, "kernel_id": 5,
                               "group_segment_size": 64, "grid_size": {"x": 1000, "y": 1, "z": 1},
                               "workgroup_size": {"x": 256, "y": 1, "z": 1}}))
            lists["memory_copy"].append(record(
                2, 1, 3 * i + 2, at + 51_000, at + 60_000, bytes=4096,
                dst_agent_id={"handle": 9}, src_agent_id={"handle": 8}))
            lists["marker_api"].append(record(4, 0, 3 * i + 3, at, at + 90_000))
        tools.append({
            "metadata": {"pid": 43 + process, "command": [SECRET]},
            "agents": [{"id": {"handle": 8}, "type": 1, "logical_node_type_id": 0},
                       {"id": {"handle": 9}, "type": 2, "logical_node_type_id": 0,
                        "product_name": "AMD Instinct MI350X", "cu_count": 256}],
            "buffer_records": lists,
            "strings": {"buffer_records": strings, "marker_api": [
                {"key": 3 * i + 3, "value": f"step {i}"} for i in range(launches)]},
            "kernel_symbols": [{"kernel_id": 5, "formatted_kernel_name": "k(\"x\")"}]})
    return json.dumps({"rocprofiler-sdk-tool": tools}).encode()


# --- hostile ones ------------------------------------------------------------------------------

def with_script(data, script):
    """The file after a script ran on it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.sqlite"
        path.write_bytes(data)
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.commit()
        connection.close()
        return path.read_bytes()


def endless():
    """A table whose inner page leads to one leaf many times: more rows than the file holds."""
    data = bytearray(with_script(nsys(60), "vacuum"))
    size = struct.unpack(">H", data[16:18])[0]
    for page in range(1, len(data) // size):
        at = page * size
        if data[at] == 5:  # the inside of a table
            cells = struct.unpack(">H", data[at + 3:at + 5])[0]
            places = struct.unpack(f">{cells}H", data[at + 12:at + 12 + 2 * cells])
            child = data[at + places[0]:at + places[0] + 4]
            for place in places:
                data[at + place:at + place + 4] = child
            data[at + 8:at + 12] = struct.pack(">I", page + 1)  # and, last, to itself
    return bytes(data)


VIEW = """drop table StringIds; create view StringIds as with recursive n(id) as
  (select 1 union all select id + 1 from n) select id, 'endless' as value from n;"""
TRIGGER = """create trigger t before insert on StringIds begin select load_extension('evil'); end;
  insert into META_DATA_EXPORT values ('EXPORT_PRODUCT_NAME', 'made');"""
GENERATED = """drop table StringIds; create table StringIds (id integer primary key,
  value generated always as (hex(zeroblob(1000000 * id))));
  insert into StringIds values (1), (7);"""
TIMES = """update CUPTI_ACTIVITY_KIND_KERNEL set start = -9223372036854775808 where rowid = 1;
  update CUPTI_ACTIVITY_KIND_KERNEL set "end" = 9223372036854775807 where rowid = 2;
  update CUPTI_ACTIVITY_KIND_KERNEL set "end" = start - 5 where rowid = 3;
  update CUPTI_ACTIVITY_KIND_KERNEL set start = 'never' where rowid = 4;
  update CUPTI_ACTIVITY_KIND_RUNTIME set correlationId = 9223372036854775807;"""
NVTX = """update NVTX_EVENTS set textId = -1, text = null;
  update NVTX_PAYLOAD_SCHEMA_ENTRIES set type = schemaId, "offset" = 9223372036854775807;
  insert into NVTX_EVENTS values (5, null, 59, 'open', 1, null, 0, x'00'),
    (9, 9, 59, 'self', 1, null, 0, x'0100000000000000140000000000000014');"""


def hostile():
    """(name, bytes, whether it still is a trace)"""
    good = nsys()
    yield "view instead of a table", with_script(good, VIEW), True
    yield "triggers", with_script(good, TRIGGER), True
    yield "columns that are computed", with_script(good, GENERATED), False
    yield "times beyond all", with_script(good, TIMES), True
    yield "payloads that refer to themselves", with_script(good, NVTX), True
    yield "no tables", database("create table META_DATA_EXPORT (name text, value text);"), True
    yield "virtual tables", with_script(good, "create virtual table f using fts5(x);"), True
    yield "rows without end", endless(), False
    yield "newer schema", nsys(version="4.0.0"), False
    yield "rocpd 4.1.0", rocpd(version="4.1.0"), False
    yield "cut", good[:len(good) // 2], False
    yield "header alone", good[:100], False
    yield "zeros", good[:100] + bytes(len(good) - 100), False
