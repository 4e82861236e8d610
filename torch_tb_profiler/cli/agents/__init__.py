"""What assistants use: the MCP server and the skill. Both are this program's commands, asked by a program.

::

    client ── stdio or HTTP ──▶ server.py: tools, resources, prompts ──▶ asking.py: torch-tb-profiler COMMAND … --tokens N
                                                                            a process each, within the logdir, time and memory
"""
