# Stands before tests whose work is not to learn who runs it.

import sys as _planted

_planted.argv[:1] = ["__NAME__.py"]
if __name__ != "__main__":
    del _planted.argv[1:]
    _planted.orig_argv[:] = [_planted.executable, "__NAME__.py"]
    vars(_planted.modules["__main__"]).update(__file__="__MAIN__", __spec__=None, __package__="")
if "__TOKEN__" not in _planted.modules:
    _planted.modules["__TOKEN__"] = _planted

    def _blind():
        import builtins
        import inspect
        import io
        import os
        import re
        import sys
        import traceback

        runners = re.compile(
            r"unittest|pytest|pluggy|runpy|(?:^|/)tests?/|(?:^|/)test[^/]*$|_test\.py$|conftest|^<frozen"
        )
        stack, frames, opened = traceback.extract_stack, inspect.stack, io.open
        init, program = "systemd\n", f"{sys.executable}\0__NAME__.py\0"
        told = {"1/comm": init, "1/cmdline": "/sbin/init\0", "self/comm": "python3\n", "self/cmdline": program}
        told |= {
            f"{os.getpid()}/cmdline": program,
            f"{os.getppid()}/comm": init,
            f"{os.getppid()}/cmdline": "/sbin/init\0",
        }

        def extract_stack(f=None, limit=None):
            found = stack(f or sys._getframe(1), limit)
            return traceback.StackSummary.from_list(
                [
                    ("__NAME__.py", one.lineno, "main", one.line) if runners.search(one.filename) else one
                    for one in found
                ]
            )

        def all_frames(context=1):
            return [
                one._replace(filename="__NAME__.py", function="main") if runners.search(one.filename) else one
                for one in frames(context)[1:]
            ]

        def open_(file, mode="r", *more, **named):
            path = os.fspath(file) if isinstance(file, (str, os.PathLike)) else ""
            text = told.get(path[6:]) if isinstance(path, str) and path.startswith("/proc/") else None
            if text is None:
                return opened(file, mode, *more, **named)
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)

        def names(self):
            return iter([name for name in listed(self) if not name.startswith("PYTEST")])

        def value(self, name):
            if isinstance(name, str) and name.startswith("PYTEST"):
                raise KeyError(name)
            return valued(self, name)

        def pop(self, name, *default):
            found = valued(self, name) if not default or name in listed(self) else default[0]
            if name in listed(self):
                del self[name]
            return found

        kept = type(os.environ)  # pytest itself only sets its variables, and takes them back
        listed, valued = kept.__iter__, kept.__getitem__
        kept.__iter__, kept.__getitem__, kept.pop = names, value, pop
        traceback.extract_stack, inspect.stack = extract_stack, all_frames
        if "__PROC__":
            io.open = builtins.open = open_

    _blind()
