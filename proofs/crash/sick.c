/* An interposed library: the n-th call that writes below one folder fails, once or from then on, as a sick disk would have it.

   All processes that carry it share one small file, in which the test says what is to fail and reads what did. Every real call
   is made as a system call, so nothing has to be looked up. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define ROOM 1   /* needs space on the disk */
#define CHANGE 2 /* changes something, but needs none */
#define SYNC 3

struct control {
    long number;  /* the error; 0 for none */
    long lasting; /* whether all later calls fail too */
    long at;      /* the number of the call that fails first; 0 only counts */
    long count;   /* calls so far that could have failed like this */
    long failed;  /* calls that did */
    char below[1024];
    char where[1024]; /* the first that failed */
};

static struct control *shared;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SICK_DISK");
    if (path == NULL)
        return;
    int handle = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (handle < 0)
        return;
    void *made = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    close(handle);
    if (made != MAP_FAILED)
        shared = made;
}

static int could_be(int kind)
{
    if (shared->number == ENOSPC)
        return kind != CHANGE;
    return shared->number == EROFS ? kind != SYNC : shared->number != 0;
}

static void of_handle(int handle, char *full)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, full, PATH_MAX - 1);
    full[length < 0 ? 0 : length] = 0;
}

static void of_name(int folder, const char *name, char *full)
{
    full[0] = 0;
    if (name[0] != '/') {
        if (folder == AT_FDCWD) {
            if (getcwd(full, PATH_MAX) == NULL)
                full[0] = 0;
        } else
            of_handle(folder, full);
        strncat(full, "/", PATH_MAX - strlen(full) - 1);
    }
    strncat(full, name, PATH_MAX - strlen(full) - 1);
}

static int fails(const char *call, int kind, const char *full)
{
    size_t length = strlen(shared->below);
    if (!length || strncmp(full, shared->below, length) || (full[length] != '/' && full[length] != 0) || !could_be(kind))
        return 0;
    long number = __atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST);
    if (!shared->at || number < shared->at || (number > shared->at && !shared->lasting))
        return 0;
    if (__atomic_fetch_add(&shared->failed, 1, __ATOMIC_SEQ_CST) == 0)
        snprintf(shared->where, sizeof shared->where, "%s %s", call, full);
    errno = (int)shared->number;
    return 1;
}

static int at_handle(const char *call, int kind, int handle)
{
    char full[PATH_MAX];
    int before = errno;
    if (shared == NULL || !shared->number)
        return 0;
    of_handle(handle, full);
    errno = before;
    return fails(call, kind, full);
}

static int at_name(const char *call, int kind, int folder, const char *name)
{
    char full[PATH_MAX];
    if (shared == NULL || !shared->number || name == NULL)
        return 0;
    of_name(folder, name, full);
    return fails(call, kind, full);
}

static int opened(int folder, const char *name, int flags, mode_t mode)
{
    if (flags & O_CREAT ? at_name("open", ROOM, folder, name) : (flags & O_ACCMODE) != O_RDONLY && at_name("open", CHANGE, folder, name))
        return -1;
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

#define OPEN(NAME) \
    EXPORT int NAME(const char *name, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return opened(AT_FDCWD, name, flags, mode); \
    }
#define OPENAT(NAME) \
    EXPORT int NAME(int folder, const char *name, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return opened(folder, name, flags, mode); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(NAME) \
    EXPORT FILE *NAME(const char *name, const char *how) \
    { \
        FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #NAME); \
        return how[0] != 'r' && at_name("open", ROOM, AT_FDCWD, name) ? NULL : real(name, how); \
    }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT ssize_t write(int handle, const void *data, size_t size)
{
    return at_handle("write", ROOM, handle) ? -1 : syscall(SYS_write, handle, data, size);
}

EXPORT ssize_t writev(int handle, const struct iovec *parts, int count)
{
    return at_handle("write", ROOM, handle) ? -1 : syscall(SYS_writev, handle, parts, count);
}

#define PWRITE(NAME) \
    EXPORT ssize_t NAME(int handle, const void *data, size_t size, off_t place) \
    { \
        return at_handle("write", ROOM, handle) ? -1 : syscall(SYS_pwrite64, handle, data, size, place); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SENDFILE(NAME) \
    EXPORT ssize_t NAME(int to, int from, off_t *place, size_t size) \
    { \
        return at_handle("copy", ROOM, to) ? -1 : syscall(SYS_sendfile, to, from, place, size); \
    }
SENDFILE(sendfile)
SENDFILE(sendfile64)

#define TRUNCATE(NAME) \
    EXPORT int NAME(int handle, off_t size) \
    { \
        return at_handle("truncate", CHANGE, handle) ? -1 : (int)syscall(SYS_ftruncate, handle, size); \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

EXPORT int fsync(int handle)
{
    return at_handle("fsync", SYNC, handle) ? -1 : (int)syscall(SYS_fsync, handle);
}

EXPORT int fdatasync(int handle)
{
    return at_handle("fdatasync", SYNC, handle) ? -1 : (int)syscall(SYS_fdatasync, handle);
}

EXPORT int syncfs(int handle)
{
    return at_handle("syncfs", SYNC, handle) ? -1 : (int)syscall(SYS_syncfs, handle);
}

EXPORT int mkdirat(int folder, const char *name, mode_t mode)
{
    return at_name("mkdir", ROOM, folder, name) ? -1 : (int)syscall(SYS_mkdirat, folder, name, mode);
}

EXPORT int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

EXPORT int renameat(int from, const char *name, int to, const char *target)
{
    return at_name("rename", ROOM, to, target) ? -1 : (int)syscall(SYS_renameat2, from, name, to, target, 0);
}

EXPORT int rename(const char *name, const char *target)
{
    return renameat(AT_FDCWD, name, AT_FDCWD, target);
}

EXPORT int linkat(int from, const char *name, int to, const char *target, int flags)
{
    return at_name("link", ROOM, to, target) ? -1 : (int)syscall(SYS_linkat, from, name, to, target, flags);
}

EXPORT int link(const char *name, const char *target)
{
    return linkat(AT_FDCWD, name, AT_FDCWD, target, 0);
}

EXPORT int symlinkat(const char *text, int folder, const char *name)
{
    return at_name("symlink", ROOM, folder, name) ? -1 : (int)syscall(SYS_symlinkat, text, folder, name);
}

EXPORT int symlink(const char *text, const char *name)
{
    return symlinkat(text, AT_FDCWD, name);
}

EXPORT int unlinkat(int folder, const char *name, int flags)
{
    return at_name("unlink", CHANGE, folder, name) ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

EXPORT int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

EXPORT int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

EXPORT int fchmod(int handle, mode_t mode)
{
    return at_handle("chmod", CHANGE, handle) ? -1 : (int)syscall(SYS_fchmod, handle, mode);
}

EXPORT int chmod(const char *name, mode_t mode)
{
    return at_name("chmod", CHANGE, AT_FDCWD, name) ? -1 : (int)syscall(SYS_fchmodat, AT_FDCWD, name, mode);
}

EXPORT int utimensat(int folder, const char *name, const struct timespec times[2], int flags)
{
    return at_name("utime", CHANGE, folder, name) ? -1 : (int)syscall(SYS_utimensat, folder, name, times, flags);
}

EXPORT int futimens(int handle, const struct timespec times[2])
{
    return at_handle("utime", CHANGE, handle) ? -1 : (int)syscall(SYS_utimensat, handle, NULL, times, 0);
}
