"""``python -m torch_tb_profiler`` is ``torch-tb-profiler``."""

import sys

from torch_tb_profiler.child_process import module_folders

# ``-m`` puts the working folder first: recordings may lie there, and whatever lies beside them.
sys.path[:] = module_folders()

from torch_tb_profiler.cli.main import main  # noqa: E402

sys.exit(main())
