"""The commands. Each module here is one: its name is the command's, its docstring the help.

A module has `add_parser(parser)`, which adds its arguments, and `run(arguments, layout)`, which
returns the exit status; modules whose name starts with an underscore are no commands.
"""
