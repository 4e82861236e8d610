"""Calls that are slow in a known way, and the call or option that exists instead, with its source.

A call is known by a frame of its library, ``torch/serialization.py(…): save``, by a function in C,
``<built-in function collect>``, or by an operator, ``aten::nonzero``. Line numbers are left out
before a name is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.analysis.findings.links import DOCS, TUNING
from torch_tb_profiler.store.python_frames import PythonFrame

PYTHON = "https://docs.python.org/3/"


class Fix(msgspec.Struct, frozen=True):
    """A known call.

    Attributes:
        name: a regular expression that matches its frame or operator.
        what: what engineers call it: a noun, or a verb with -ing, that a sentence can begin with.
        attempt: what to write instead, one or two sentences.
        source: (title, address) of the page that says so.
        certainty: how sure it is that its time goes.
    """

    name: str
    what: str
    attempt: str
    source: tuple[str, str]
    certainty: Certainty = "likely"


def known_fix(name: str) -> Fix | None:
    """What is known of a frame or an operator."""
    frame = PythonFrame.of(name)
    text = frame.without_line if frame and frame.file else name
    return next((fix for fix in FIXES if re.search(fix.name, text)), None)


def _frame(file: str, functions: str) -> str:
    return rf"(?:^|/){file}: (?:{functions})$"


def _built_in(names: str, of: str = "") -> str:
    return rf"^<built-in (?:function|method) (?:{names})(?: of {of}.*)?>$"


def _fixes(
    *entries: tuple[str, str, str, tuple[str, str]], certainty: Certainty = "likely"
) -> Iterable[Fix]:
    for name, what, attempt, source in entries:
        yield Fix(name, what, " ".join(attempt.split()), source, certainty)


_FILE = r"[^():]*\.py"
_PERFORMANCE = (
    "Performance of torchvision's transforms",
    "https://docs.pytorch.org/vision/stable/transforms.html#performance-considerations",
)
_DATA = ("torch.utils.data", DOCS + "data.html")
_AVERAGING = ("Weight averaging (SWA and EMA)", DOCS + "optim.html#weight-averaging-swa-and-ema")

FIXES: tuple[Fix, ...] = (
    *_fixes(
        (
            _built_in("collect"),
            "garbage collection (gc.collect)",
            """Leave gc.collect() out of the loop: what nothing refers to is freed at once without it.
            Where cycles must go, call it once per epoch; gc.freeze() after loading keeps long-lived
            objects out of every later collection.""",
            ("gc.freeze", PYTHON + "library/gc.html#gc.freeze"),
        ),
        (
            _built_in("sleep"),
            "sleeping (time.sleep)",
            """Wait for what the sleep stands for: an event, a queue, a future; or let another thread
            do the waiting.""",
            ("threading.Event", PYTHON + "library/threading.html#event-objects"),
        ),
        certainty="certain",
    ),
    *_fixes(
        (
            _frame("torch/nn/utils/clip_grad.py", r"_?clip_grads?_\w+|_?get_total_norm"),
            "clipping gradients",
            "clip_grad_norm_(parameters, norm, foreach=True) handles all gradients in a few calls.",
            (
                "clip_grad_norm_",
                DOCS + "generated/torch.nn.utils.clip_grad_norm_.html",
            ),
        ),
        certainty="theoretical",
    ),
    *_fixes(
        (
            _frame("torch/serialization.py", "save"),
            "saving a checkpoint (torch.save)",
            """Save in the background with torch.distributed.checkpoint.async_save, which blocks only
            while it copies the state to host memory, or less often.""",
            (
                "Asynchronous checkpoints",
                DOCS
                + "distributed.checkpoint.html#torch.distributed.checkpoint.state_dict_saver.async_save",
            ),
        ),
        (
            _frame("torch/serialization.py", "load"),
            "loading a file (torch.load)",
            """Load once, before the loop; mmap=True maps the file and reads only what is used.""",
            ("torch.load", DOCS + "generated/torch.load.html"),
        ),
        (
            _frame("torch/distributed/checkpoint/state_dict_saver.py", "save"),
            "saving a distributed checkpoint",
            "Use torch.distributed.checkpoint.async_save, which writes in the background.",
            ("torch.distributed.checkpoint", DOCS + "distributed.checkpoint.html"),
        ),
        (
            _frame("copy.py", "deepcopy"),
            "deep copying (copy.deepcopy)",
            """Copy into tensors that were made once: for a moving average of the weights
            torch.optim.swa_utils.AveragedModel(model,
            multi_avg_fn=get_ema_multi_avg_fn(0.999)), or torch._foreach_lerp_ over all of them.""",
            _AVERAGING,
        ),
        (
            _frame("torch/optim/swa_utils.py", "update_parameters"),
            "averaging weights (AveragedModel)",
            """Give multi_avg_fn=get_ema_multi_avg_fn(decay), which updates all weights in a few calls,
            in place of avg_fn, which is called once per weight.""",
            _AVERAGING,
        ),
        (
            r"torch/utils/tensorboard/writer\.py: add_\w+$",
            "writing to TensorBoard",
            """Write every so many steps; a histogram reads and sorts all values. Collect scalars as
            detached tensors and write them together.""",
            ("torch.utils.tensorboard", DOCS + "tensorboard.html"),
        ),
        (
            r"wandb/sdk/wandb_run\.py: log$",
            "logging to Weights & Biases (wandb.log)",
            "Log every so many steps, and all values of a step in one call.",
            ("Limits of logging", "https://docs.wandb.ai/guides/track/limits"),
        ),
        (
            _frame("logging/__init__.py", "emit|_log|flush"),
            "logging",
            """Give the logger a QueueHandler: a QueueListener then writes in another thread.""",
            (
                "Handlers that block",
                PYTHON + "howto/logging-cookbook.html#dealing-with-handlers-that-block",
            ),
        ),
        (
            _built_in("print"),
            "printing",
            "Print every so many steps: printing a tensor formats its values and waits for the device.",
            TUNING,
        ),
        (
            _frame("torch/_tensor_str.py", "_str|_tensor_str"),
            "printing tensors",
            "Print every so many steps, and detached numbers rather than tensors.",
            TUNING,
        ),
        (
            _built_in("item|tolist", "Tensor"),
            "reading tensors into Python",
            """Keep results as detached tensors and read them every so many steps, many at once with
            torch.stack(...).tolist().""",
            TUNING,
        ),
        (
            r"torch/(?:cuda|xpu|mps|npu)/(?:memory|__init__)\.py: empty_cache$",
            "emptying the cache (torch.cuda.empty_cache)",
            """Leave empty_cache() out of the loop: PyTorch reuses cached memory itself, and what was given
            back must be allocated anew.""",
            ("Memory management", DOCS + "notes/cuda.html#memory-management"),
        ),
        (
            r"(?:^|/)pandas/core/frame\.py: (?:iterrows|apply)$",
            "going row by row in pandas",
            "Work on whole columns, or convert the frame once with to_numpy() before the loop.",
            (
                "pandas: enhancing performance",
                "https://pandas.pydata.org/docs/user_guide/enhancingperf.html",
            ),
        ),
        (
            r"(?:^|/)PIL/Image\w*\.py: (?:resize|rotate|transform|filter|thumbnail|convert)$",
            "processing images with PIL",
            """Use torchvision.transforms.v2 on uint8 tensors in place of PIL images, in worker
            processes of the DataLoader.""",
            _PERFORMANCE,
        ),
        (
            _built_in("tensor|as_tensor", "type"),
            "making tensors of lists (torch.tensor)",
            """Python's numbers are copied one by one: keep them in an array of NumPy and use torch.from_numpy, or make the
            tensor once, outside of the loop.""",
            ("torch.from_numpy", DOCS + "generated/torch.from_numpy.html"),
        ),
        (
            _built_in("findall|finditer|fullmatch|match|search|split|subn?", "re.Pattern"),
            "regular expressions",
            """Cut texts into tokens once, when the dataset is made, or in worker processes; a compiled tokenizer does it
            faster.""",
            ("Processing a dataset once (map)", "https://huggingface.co/docs/datasets/process#map"),
        ),
        (
            r"(?:^|/)json/(?:__init__\.py: loads?$|decoder\.py: )",
            "reading JSON",
            "Read it once and keep it, ahead in another thread, or store numbers in a binary file.",
            ("concurrent.futures", PYTHON + "library/concurrent.futures.html"),
        ),
        (
            r"(?:^|/)json/(?:__init__|encoder)\.py: ",
            "writing JSON",
            "Write every so many steps, in another thread, or numbers in a binary file.",
            ("concurrent.futures", PYTHON + "library/concurrent.futures.html"),
        ),
        (
            r"multiprocessing/reduction\.py: dumps?$",
            "pickling for another process",
            """Pass tensors, whose memory is shared, in place of Python objects, and start processes
            once (persistent_workers=True of the DataLoader).""",
            ("torch.multiprocessing", DOCS + "notes/multiprocessing.html"),
        ),
        (
            _built_in("dumps?|loads?", ".*[Pp]ickle") + r"|^<built-in method dump of _pickle",
            "pickling",
            "Serialise less often, or in another process.",
            ("concurrent.futures", PYTHON + "library/concurrent.futures.html"),
        ),
        (
            _frame("subprocess.py", r"run|call|check_\w+|communicate|wait|__init__"),
            "running a subprocess",
            "Start it without waiting (subprocess.Popen), or from another thread.",
            ("subprocess.Popen", PYTHON + "library/subprocess.html#popen-constructor"),
        ),
        (
            r"(?:^|/)(?:urllib/request|http/client|requests/(?:api|sessions)|httpx/_client)\.py: ",
            "a network request",
            "Ask from another thread or ahead of time, over one open connection.",
            ("concurrent.futures", PYTHON + "library/concurrent.futures.html"),
        ),
        (
            _built_in("fsync|fdatasync"),
            "flushing a file to disk (os.fsync)",
            "Let the system write when it likes; call it once at the end.",
            ("os.fsync", PYTHON + "library/os.html#os.fsync"),
        ),
        (
            r"(?:^|/)matplotlib/(?:figure|pyplot)\.py: (?:savefig|draw|show|subplots|imshow|plot)$",
            "drawing with matplotlib",
            "Keep the data and draw after the loop or in another process.",
            (
                "matplotlib: performance",
                "https://matplotlib.org/stable/users/explain/artists/performance.html",
            ),
        ),
        (
            r"(?:^|/)sklearn/metrics/" + _FILE + ": ",
            "computing metrics with scikit-learn",
            "Collect detached predictions and compute the metric once per epoch.",
            TUNING,
        ),
        (
            r"(?:^|/)transformers/tokenization_\w+\.py: ",
            "tokenizing",
            "Tokenize before training: dataset.map(tokenize, batched=True), and cache the result.",
            ("datasets: batch processing", "https://huggingface.co/docs/datasets/process#map"),
        ),
        (
            r"(?:^|/)transformers/.*: eager_attention_forward$",
            "eager attention",
            'Load the model with attn_implementation="sdpa".',
            (
                "Attention interface of Transformers",
                "https://huggingface.co/docs/transformers/attention_interface",
            ),
        ),
        (
            r"^aten::(?:_linalg_svd|linalg_svd|svd)$",
            "singular value decomposition",
            """Where only singular values are needed, torch.linalg.svdvals; where only the largest,
            torch.svd_lowrank.""",
            ("torch.linalg.svd", DOCS + "generated/torch.linalg.svd.html"),
        ),
        (
            r"^aten::(?:_linalg_eigh|linalg_eigh)$",
            "eigenvalue decomposition",
            "Where only eigenvalues are needed, torch.linalg.eigvalsh.",
            ("torch.linalg.eigh", DOCS + "generated/torch.linalg.eigh.html"),
        ),
        (
            r"^aten::(?:linalg_inv|linalg_inv_ex|inverse)$",
            "matrix inversion",
            "torch.linalg.solve(A, B) in place of torch.linalg.inv(A) @ B: faster and more exact.",
            ("torch.linalg.inv", DOCS + "generated/torch.linalg.inv.html"),
        ),
        (
            r"^aten::sort$",
            "sorting",
            "Where only some of the largest values are needed, torch.topk; where one, torch.kthvalue.",
            ("torch.topk", DOCS + "generated/torch.topk.html"),
        ),
        (
            r"^aten::nonzero$",
            "finding nonzero elements (torch.nonzero)",
            "Use torch.where(mask, a, b) or a mask of a fixed size, which need not wait for the device.",
            ("torch.nonzero", DOCS + "generated/torch.nonzero.html"),
        ),
    ),
)
