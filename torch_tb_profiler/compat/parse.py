"""``python -m torch_tb_profiler.compat.parse net.sql > net.dict``: ``pyprof.parse``, which is ``pyprof --dict``."""

import sys

from torch_tb_profiler.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["pyprof", "--dict", *sys.argv[1:]]))
