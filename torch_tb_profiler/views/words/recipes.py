"""How to record something: the lines to paste, for the kind of program that wrote the trace. The
recipes are explained in ``docs/recording.md``.
"""

from __future__ import annotations

import json

from torch_tb_profiler.store.summary import Writer

LONGEST_LINE = 60
"""Longest options on one line of a call."""
_ACTIVITIES = "[ProfilerActivity.CPU, ProfilerActivity.CUDA]  (or .XPU, .MTIA)"
_VLLM = {
    "record_shapes=True": "torch_profiler_record_shapes",
    "with_stack=True": "torch_profiler_with_stack",
    "profile_memory=True": "torch_profiler_with_memory",
}
"""vLLM's name of each option."""
_LOOP = ("for batch in loader:", "    train_step(batch)", "    profiler.step()")
_SCRIPT = (
    "for _ in range(8):",
    "    run()  # what you want to see",
    "    profiler.step()",
)
_TRAINER = ("trainer.add_callback(Steps())", "trainer.train()")
_CALLBACK = (
    "from transformers import TrainerCallback",
    "",
    "class Steps(TrainerCallback):",
    "    def on_step_end(self, *args, **kwargs):",
    "        profiler.step()",
    "",
)


def recipe(writer: Writer, *options: str, devices: bool = False) -> str:
    """What records ``options``, which are written as those of ``torch.profiler.profile``. ``devices``:
    activities are missing. Empty where such a program has no way to.
    """
    if writer == Writer.LIGHTNING:
        return _lightning(options)
    if writer == Writer.TORCH_NPU:
        return _torch_npu(options)
    if writer == Writer.TRANSFORMERS:
        return "\n".join((*_CALLBACK, _call(options, devices, _TRAINER)))
    if writer in (Writer.LOOP, Writer.SCRIPT):
        return _call(options, devices, _LOOP if writer == Writer.LOOP else _SCRIPT)
    made = [
        make(options)
        for which, make in ((Writer.VLLM, _vllm), (Writer.SGLANG, _sglang))
        if writer in (which, Writer.SERVER)
    ]
    return "\n\n".join(filter(None, made))


def _call(options: tuple[str, ...], devices: bool, body: tuple[str, ...]) -> str:
    """``record`` has the options on by default; they are named for readers who call
    ``torch.profiler.profile``.
    """
    given = ['"./log/run"', *options]
    together = ", ".join(given)
    arguments = [f"with torch_tb_profiler.record({together}) as profiler:"]
    if len(together) > LONGEST_LINE:
        arguments = [
            "with torch_tb_profiler.record(",
            *(f"    {option}," for option in given),
            ") as profiler:",
        ]
    lines = [
        *(["import torch"] if "torch." in together else []),
        "import torch_tb_profiler",
        "",
        *(
            [
                "# The host and every accelerator that PyTorch sees. In torch.profiler:",
                f"# activities={_ACTIVITIES}",
            ]
            if devices
            else []
        ),
        *arguments,
        *(f"    {line}" for line in body),
    ]
    return "\n".join(lines)


def _lightning(options: tuple[str, ...]) -> str:
    given = ", ".join(('dirpath="./log/run"', *options))
    return "\n".join(
        (
            "from lightning.pytorch.profilers import PyTorchProfiler",
            "",
            f"trainer = Trainer(profiler=PyTorchProfiler({given}))",
        )
    )


def _torch_npu(options: tuple[str, ...]) -> str:
    if not set(options) <= set(_VLLM):
        return ""
    return "\n".join(
        (
            "from torch_npu import profiler as npu",
            "",
            "with npu.profile(",
            "    activities=[npu.ProfilerActivity.CPU, npu.ProfilerActivity.NPU],",
            *(f"    {option}," for option in options),
            '    on_trace_ready=npu.tensorboard_trace_handler("./log/run"),',
            ") as profiler:",
            *(f"    {line}" for line in _LOOP),
        )
    )


def _vllm(options: tuple[str, ...]) -> str:
    if not set(options) <= set(_VLLM):
        return ""
    config: dict[str, object] = {"profiler": "torch", "torch_profiler_dir": "/FOLDER/log/run"}
    config |= {_VLLM[option]: True for option in options}
    return "\n".join(
        (
            "# vLLM 0.13 or later; the folder must be absolute",
            f"vllm serve MODEL --profiler-config '{json.dumps(config)}'",
            "curl -X POST http://localhost:8000/start_profile",
            "# send a few requests",
            "curl -X POST http://localhost:8000/stop_profile",
        )
    )


def _sglang(options: tuple[str, ...]) -> str:
    if not set(options) <= set(_VLLM):
        return ""
    memory = "profile_memory=True" in options
    asked: dict[str, object] = {
        "output_dir": "./log/run",
        "num_steps": 10,
        "activities": ["CPU", "GPU", *(["MEM"] if memory else [])],
    }
    asked |= {
        option.removesuffix("=True"): True for option in options if option != "profile_memory=True"
    }
    return "\n".join(
        (
            "# SGLang, while it serves requests",
            "curl -X POST http://localhost:30000/start_profile \\",
            f"  -H 'Content-Type: application/json' -d '{json.dumps(asked)}'",
        )
    )
