/*
 * Moves the wall clock of one process by a number of milliseconds that another process may change at any time: an int64
 * in the file named by LIMITER_CLOCK_FILE, mapped into memory. Only the wall clock moves; the monotonic clock, which
 * drives the server's timers, is left alone. System calls are made directly: looking up libc's own functions here would
 * allocate memory while the allocator is still being set up, and hang the server.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset_ms;

__attribute__((constructor)) static void open_file(void) {
  const char *path = getenv("LIMITER_CLOCK_FILE");
  if (path == NULL) return;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) offset_ms = mapped;
}

static void shifted(struct timespec *ts) {
  syscall(SYS_clock_gettime, CLOCK_REALTIME, ts);
  if (offset_ms == NULL) return;
  int64_t ns = (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec + *offset_ms * 1000000;
  ts->tv_sec = ns / 1000000000;
  ts->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
  if (clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, ts);
  shifted(ts);
  return 0;
}

int gettimeofday(struct timeval *tv, void *tz) {
  (void)tz;
  struct timespec ts;
  shifted(&ts);
  tv->tv_sec = ts.tv_sec;
  tv->tv_usec = ts.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec ts;
  shifted(&ts);
  if (out != NULL) *out = ts.tv_sec;
  return ts.tv_sec;
}
