# Stands around a program that judges, which is put into the `try`.
def _mark(word, left=None, last=False):
    import os

    path, changed = "__PATH__", "__CHANGED__"
    frames, one = [], getattr(left, "__traceback__", None)
    while one is not None:
        frames.append(one.tb_frame)
        one = one.tb_next
    own = [frame for frame in frames if frame.f_globals is globals()]
    left_by_work = any(os.path.abspath(frame.f_code.co_filename) in changed for frame in frames)
    if _heard and (word != b"ended" or not left_by_work or (last and len(own) == 1)):
        os.write(2, b"\n__TOKEN__ " + word + b" " + path + b"\n")


def _is_first():
    # A program that starts itself once more speaks for both; unless it becomes the other, which then has its number.
    import os

    path, number = "__PATH__", str(os.getpid())
    before = os.environb.get(b"__TOKEN__", b"").partition(b" ")
    if before[2] == path and os.fsdecode(before[0]) != number:
        return False
    os.environb[b"__TOKEN__"] = os.fsencode(number) + b" " + path
    return True


def _see_the_end():
    # A child goes on to the end from here, through all that the work may have put there; its parent sees how it leaves.
    import os
    import signal

    if not _heard:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            _mark(b"overruled")
        os._exit(code if code >= 0 else 128 - code)


_last = False
_heard = __name__ == "__main__" and _is_first()
_mark(b"began")
try:
    pass
except SystemExit as _left:
    _mark(b"refused" if _left.code else b"ended", _left, _last)
    if _left.code:
        _see_the_end()
    raise
except BaseException:
    _mark(b"refused")
    _see_the_end()
    raise
else:
    _mark(b"ended")
