"""System call numbers of x86-64 and aarch64, and the list of those that student code may use.

Sources: x86-64 from <asm/unistd_64.h>, aarch64 from <asm-generic/unistd.h> of the kernel's own
headers; `-` where the architecture has no such call. A test compares both with installed headers.

What is missing below is refused: new processes and programs, sockets, signals to others, other
processes' memory and descriptors, System V and POSIX queues, links, devices, mounts, namespaces,
keys, tracing, io_uring, memfd, truncation by name (which Landlock covers from its third version on
only). Changes of owners, modes, times and attributes, which Landlock does not cover, are answered
without being made unless they can reach scratch only, see `seccomp`.
"""

import platform
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

ALLOWED = """
# memory
mmap 9 222  munmap 11 215  mprotect 10 226  mremap 25 216  madvise 28 233  brk 12 214
msync 26 227  mincore 27 232  get_mempolicy 239 236
# threads, on the processor
futex 202 98  futex_waitv 449 449  set_robust_list 273 99  rseq 334 293  membarrier 324 283
set_tid_address 218 96  gettid 186 178  sched_yield 24 124  sched_getaffinity 204 123
sched_getparam 143 121  sched_getscheduler 145 120  sched_get_priority_max 146 125
sched_get_priority_min 147 126  sched_rr_get_interval 148 127  getcpu 309 168  arch_prctl 158 -
restart_syscall 219 128  exit 60 93  exit_group 231 94
# open descriptors
read 0 63  write 1 64  readv 19 65  writev 20 66  pread64 17 67  pwrite64 18 68  preadv 295 69
pwritev 296 70  preadv2 327 286  pwritev2 328 287  lseek 8 62  close 3 57  close_range 436 436
dup 32 23  dup2 33 -  dup3 292 24  pipe 22 -  pipe2 293 59  fstat 5 80  flock 73 32  fsync 74 82
fdatasync 75 83  ftruncate 77 46  fallocate 285 47  fadvise64 221 223  readahead 187 213
sendfile 40 71  copy_file_range 326 285  getdents 78 -  getdents64 217 61  fstatfs 138 44
# names of files (Landlock decides which)
stat 4 -  lstat 6 -  newfstatat 262 79  statx 332 291  access 21 -  faccessat 269 48
faccessat2 439 439  readlink 89 -  readlinkat 267 78  statfs 137 43  getcwd 79 17  chdir 80 49
fchdir 81 50  creat 85 -  rename 82 -  renameat 264 38  renameat2 316 276  mkdir 83 -
mkdirat 258 34  rmdir 84 -  unlink 87 -  unlinkat 263 35  umask 95 166
# waiting
poll 7 -  ppoll 271 73  select 23 -  pselect6 270 72  epoll_create 213 -  epoll_create1 291 20
epoll_ctl 233 21  epoll_wait 232 -  epoll_pwait 281 22  epoll_pwait2 441 441  eventfd 284 -
eventfd2 290 19  nanosleep 35 101  pause 34 -  wait4 61 260  waitid 247 95
# sockets that were born as a pair
sendto 44 206  recvfrom 45 207  shutdown 48 210  getsockname 51 204  getpeername 52 205
# signals and timers of its own
rt_sigaction 13 134  rt_sigprocmask 14 135  rt_sigreturn 15 139  rt_sigpending 127 136
rt_sigtimedwait 128 137  rt_sigsuspend 130 133  sigaltstack 131 132  getitimer 36 102
setitimer 38 103  alarm 37 -
# what time it is, who and where one is
gettimeofday 96 169  time 201 -  times 100 153  clock_getres 229 114  getpid 39 172
getppid 110 173  getuid 102 174  geteuid 107 175  getgid 104 176  getegid 108 177
getresuid 118 148  getresgid 120 150  getgroups 115 158  getpgrp 111 -  getpgid 121 155
getsid 124 156  getrusage 98 165  getrlimit 97 163  setrlimit 160 164  getpriority 140 141
sysinfo 99 179  uname 63 160  getrandom 318 278
"""

# Allowed for some arguments only (see `seccomp`), or needed to set the sandbox up.
KNOWN = """
# decided by an argument
open 2 -  openat 257 56  ioctl 16 29  fcntl 72 25  socketpair 53 199  clone 56 220  kill 62 129
tgkill 234 131  prlimit64 302 261  prctl 157 167  clock_gettime 228 113  clock_nanosleep 230 115
sched_setaffinity 203 122  getsockopt 55 209
# what a file is like: where only scratch can be written
chmod 90 -  fchmod 91 52  fchmodat 268 53  utimensat 280 88  utime 132 -  utimes 235 -
futimesat 261 -
# answered as if they had been done
chown 92 -  fchown 93 55  lchown 94 -  fchownat 260 54
# answered as a file system without attributes does
setxattr 188 5  lsetxattr 189 6  fsetxattr 190 7  getxattr 191 8  lgetxattr 192 9  fgetxattr 193 10
listxattr 194 11  llistxattr 195 12  flistxattr 196 13  removexattr 197 14  lremovexattr 198 15
fremovexattr 199 16
# answered as without a network
socket 41 198
# answered as if the kernel were older, so that the C library falls back to what is checked
clone3 435 435  openat2 437 437
# for the lock-down itself
unshare 272 97  seccomp 317 277  capget 125 90  capset 126 91  mount_setattr 442 442
landlock_create_ruleset 444 444  landlock_add_rule 445 445  landlock_restrict_self 446 446
"""

COLUMN = {"x86_64": 1, "aarch64": 2}
# <linux/audit.h>: EM_X86_64 (62) and EM_AARCH64 (183) | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@cache
def numbers(table: str, machine: str | None = None) -> Mapping[str, int]:
    """Name to number for `machine` (as `platform.machine()` says it), in the table's order.

    Raises:
        KeyError: for a machine that the tables do not hold.
    """
    column = COLUMN[machine or platform.machine()]
    lines = (line for line in table.splitlines() if not line.startswith("#"))
    words = " ".join(lines).split()
    rows = zip(words[::3], words[1::3], words[2::3], strict=True)
    return MappingProxyType({row[0]: int(row[column]) for row in rows if row[column] != "-"})


def supported() -> bool:
    """Whether the tables hold this machine, and the interpreter runs in its native mode."""
    return platform.machine() in AUDIT_ARCH and platform.architecture()[0] == "64bit"
