"""What the installed package says of the samples, as files that any two environments write alike:
``python .ci/commands.py SAMPLES FOLDER [EXTRA…]``.

Every command that reads a trace runs as text, CSV and JSON, and ``serve`` answers; with extras also what each of them serves.
With ``FORMS=json`` in the environment every command runs in its last form alone, and nothing is exported or served.
A warning raised by a line of the package is an error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ask import free_port

TRACE = "synthetic_ddp8/rank0.pt.trace.json.gz"
RUNS = ("cnn_workers_0", "cnn_workers_2")
PRINTED = (
    "summary",
    "operators",
    "operators --by shape",
    "kernels",
    "api-calls",
    "ranges",
    "compiled",
    "iterations",
    "findings",
    "critical-path",
    "whatif --list",
    "whatif --change host",
    "event {trace} 100",
    "pyprof",
    "diff {runs}",
    "experiments {samples}",
    "doctor",
)
AS_CSV = ("ranges --csv", "pyprof --csv", "experiments {samples} --csv", "diff {runs} --format csv")
VIEWS = ("overview", "operator", "kernel", "trace", "memory", "module", "findings", "critical_path")
PATIENCE_SECONDS = 120.0
ONE_FORM = os.environ.get("FORMS") == "json"


class Failure(Exception):
    """Something that the package should do, and does not."""


def said(arguments: list[str]) -> bytes:
    """Standard output of a command, run in this process."""
    from torch_tb_profiler.cli.main import main

    output = io.BytesIO()
    text = io.TextIOWrapper(output, "utf-8", write_through=True)
    with contextlib.redirect_stdout(text):
        code = main(arguments)
    if code != 0:
        raise Failure(f"{' '.join(arguments)} ends with {code}")
    text.flush()
    return output.getvalue()


def commands(samples: Path) -> Iterator[tuple[str, list[str]]]:
    """A name and arguments of each command."""
    from torch_tb_profiler.tables.registry import OF_A_TRACE

    places = {
        "trace": samples / TRACE,
        "runs": " ".join(str(samples / run) for run in RUNS),
        "samples": samples,
    }
    for line in PRINTED:
        text = line if "{" in line else f"{line} {{trace}}"
        if not ONE_FORM or line == "doctor":
            yield line, text.format(**places).split()
        if line != "doctor":
            yield f"{line} --json", [*text.format(**places).split(), "--json"]
    if ONE_FORM:
        return
    for line in AS_CSV:
        text = line if "{" in line else f"{line} {{trace}}"
        yield line, text.format(**places).split()
    for table in OF_A_TRACE:
        yield f"export {table}.csv", ["export", str(samples / TRACE), "--what", table, "-o", "-"]
    for form in ("folded", "speedscope"):
        yield f"export {form}", ["export", str(samples / TRACE), "--to", form, "-o", "-"]


def without_environment(text: bytes) -> bytes:
    """What ``doctor`` says of the files, without what it says of the environment."""
    return text.partition(b"\n\n")[2]


def key_averages(samples: Path) -> bytes:
    """The tables of the Python interface that ``torch.profiler`` prints too."""
    import torch_tb_profiler

    frames = torch_tb_profiler.open(samples / TRACE)
    return "\n\n".join(
        str(frames.key_averages(group_by_input_shape=by_shape).table(row_limit=50))
        for by_shape in (False, True)
    ).encode()


def replies(samples: Path) -> Iterator[tuple[str, bytes]]:
    """What ``serve`` answers."""
    port = free_port()
    command = [sys.executable, "-m", "torch_tb_profiler", "serve", str(samples)]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([*command, "--port", str(port)], stdout=log, stderr=log)
        try:
            base = f"http://127.0.0.1:{port}/"
            listed = settled(base, server)
            if b"static/boot.js" not in asked(base):
                raise Failure("serve does not answer with its page")
            run = next(run for run in listed["runs"] if run["name"] == TRACE.partition("/")[0])
            worker = run["workers"][0]
            query = {"run": run["name"], "worker": worker["name"]}
            query["span"] = worker["spans"][0]["name"]
            for view in VIEWS:
                yield f"serve {view}.json", asked(base + f"{view}?{urllib.parse.urlencode(query)}")
        finally:
            server.terminate()
            server.wait(30)
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace")[-3000:])


def asked(url: str) -> bytes:
    """The body of a reply that is no error."""
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as reply:
        body: bytes = reply.read()
        return body


def settled(base: str, server: subprocess.Popen[bytes]) -> dict[str, list[dict[str, object]]]:
    """The list of runs, once every trace of it was read."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_SECONDS and server.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError):
            listed = json.loads(asked(base + "runs"))
            spans = [s for r in listed["runs"] for w in r["workers"] for s in w["spans"]]
            if spans and not listed["scanning"] and all(s["state"] == "ready" for s in spans):
                return listed
        time.sleep(0.2)
    raise Failure(f"serve does not list its runs after {time.monotonic() - began:.0f} s")


def over_http(samples: Path) -> None:
    """A trace from a web server."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    server = subprocess.Popen([*command, "-d", str(samples)], stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/{TRACE}"
        for _ in range(100):
            with contextlib.suppress(OSError):
                asked(url)
                break
            time.sleep(0.1)
        said(["summary", url, "--no-cache"])
    finally:
        server.terminate()
        server.wait(30)


def driver(scheme: str) -> Callable[[Path], None]:
    """fsspec's driver for a scheme is there, and can be made."""

    def check(_samples: Path) -> None:
        import fsspec

        options = {"az": {"account_name": "nobody", "anon": True}, "gs": {"token": "anon"}}
        fsspec.get_filesystem_class(scheme)
        if scheme != "hdfs":  # It would need Hadoop's own library.
            fsspec.filesystem(scheme, **options.get(scheme, {"anon": True}))

    return check


def as_arrow(samples: Path) -> None:
    """Tables as Parquet and Arrow files."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("parquet", "arrow"):
            said(["export", str(samples / TRACE), "-o", f"{folder}/operators.{ending}"])


def as_sql(samples: Path) -> None:
    """A statement over the events."""
    said(["sql", str(samples / TRACE), "select count(*), sum(dur) from events", "--csv"])


def in_cluster(samples: Path) -> None:
    """An import by a scheduler of this machine."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        said(["import", str(samples / RUNS[0]), "--scheduler", str(cluster.scheduler_address)])


def for_assistants(samples: Path) -> None:
    """The server of the Model Context Protocol, and a question to it."""
    import anyio

    from torch_tb_profiler.cli.agents.server import server

    made = server(str(samples / TRACE))
    if not anyio.run(made.list_tools):
        raise Failure("mcp lists no tools")


EXTRAS: dict[str, Callable[[Path], None]] = {
    "s3": driver("s3"),
    "gs": driver("gs"),
    "azure": driver("az"),
    "hdfs": driver("hdfs"),
    "http": over_http,
    "arrow": as_arrow,
    "sql": as_sql,
    "dask": in_cluster,
    "mcp": for_assistants,
}


def main(samples: Path, folder: Path, extras: list[str]) -> int:
    """The exit code; what is wrong is printed."""
    import torch_tb_profiler

    # Where `doctor` looks for TensorBoard.
    os.environ["PATH"] = f"{sys.prefix}/bin{os.pathsep}{os.environ.get('PATH', '')}"
    warnings.filterwarnings("error", module="torch_tb_profiler")
    wrong = 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCH_TB_PROFILER_CACHE_DIR"] = cache
        os.chdir(cache)
        for extra in extras:
            try:
                EXTRAS[extra](samples)
            except Exception as error:
                print(f"[{extra}] does not suffice: {error!r}")
                wrong = 1
        if extras:
            return wrong
        folder.mkdir(parents=True)
        written = 0
        for name, arguments in commands(samples):
            text = said(arguments)
            text = without_environment(text) if name == "doctor" else text
            (folder / name.format(trace="", runs="", samples="")).write_bytes(text)
            written += 1
        (folder / "key_averages").write_bytes(key_averages(samples))
        for name, text in () if ONE_FORM else replies(samples):
            (folder / name).write_bytes(text)
            written += 1
    where = Path(torch_tb_profiler.__file__).parent
    print(f"{written} outputs, Python {sys.version.split()[0]}, {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))
