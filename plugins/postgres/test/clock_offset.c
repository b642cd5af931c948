/*-------------------------------------------------------------------------
 *
 * clock_offset.c
 *	  To be preloaded into a server: sets its wall clock off, at run time.
 *
 * The offset, in seconds, is an int64_t in the file that the environment
 * variable CLOCK_OFFSET_FILE names.
 *
 *-------------------------------------------------------------------------
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t no_offset = 0;
static const volatile int64_t *offset_seconds = &no_offset;

__attribute__((constructor))
static void
map_offset(void)
{
	const char *path = getenv("CLOCK_OFFSET_FILE");
	int			fd = path ? open(path, O_RDONLY) : -1;
	void	   *mapped;

	if (fd < 0)
		return;
	mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
	if (mapped != MAP_FAILED)
		offset_seconds = mapped;
	close(fd);
}

/* In place of libc's, which is what GetCurrentTimestamp() calls. */
int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	tv->tv_sec = now.tv_sec + *offset_seconds;
	tv->tv_usec = now.tv_nsec / 1000;
	return 0;
}
