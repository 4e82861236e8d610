"""``python -m torch_tb_profiler`` is ``torch-tb-profiler``."""

import sys

from torch_tb_profiler.cli.main import main

sys.exit(main())
