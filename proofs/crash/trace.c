/* Run a child, which did PTRACE_TRACEME and stopped itself, to the n-th system call that any of its threads enters,
   and kill it there; 0 only counts. Returns 137, its exit code, or -1 where tracing is not possible. */
#include <linux/ptrace.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern long ptrace(int request, pid_t pid, void *address, void *data);
enum { SYSCALL = 24, SETOPTIONS = 0x4200, INFO = 0x420e };
enum { SYSGOOD = 1, CLONE = 8, EXITKILL = 0x100000 };

int trace_until(int child, long n, long *seen)
{
    int status;
    *seen = 0;
    if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
        return -1;
    if (ptrace(SETOPTIONS, child, NULL, (void *)(long)(SYSGOOD | CLONE | EXITKILL)) < 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, __WALL);
        return -1;
    }
    ptrace(SYSCALL, child, NULL, NULL);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return -1;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue; /* one of its threads, or an orphan that came to us */
        }
        if (!WIFSTOPPED(status))
            continue;
        int sig = WSTOPSIG(status);
        if (sig == (SIGTRAP | 0x80)) {
            struct ptrace_syscall_info info;
            sig = 0;
            if (ptrace(INFO, thread, (void *)sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && ++*seen == n) {
                kill(child, SIGKILL);
                continue;
            }
        } else if (sig == SIGTRAP || sig == SIGSTOP) {
            sig = 0; /* news of a thread, and a thread's first stop */
        }
        ptrace(SYSCALL, thread, NULL, (void *)(long)sig);
    }
}
