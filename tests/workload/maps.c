// SPDX-License-Identifier: MIT
// Maps a file of a very long path argv[1] times, each time told of by a record of that length: more
// than any ring holds whose reader stands still.
#include "truth.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { DEPTH = 15, NAME_BYTES = 200 };

int main(int argc, char **argv)
{
	char name[NAME_BYTES + 1];
	int fd;

	memset(name, 'm', NAME_BYTES);
	name[NAME_BYTES] = '\0';
	for (int i = 0; i < DEPTH;
	     i++) /* below the working directory, which is the caller's to remove */
		if ((mkdir(name, 0700) && errno != EEXIST) || chdir(name))
			truth_die("mkdir");
	fd = open("file", O_RDWR | O_CREAT, 0700);
	if (fd < 0 || ftruncate(fd, 4096))
		truth_die("file");
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		void *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (map == MAP_FAILED || munmap(map, 4096))
			truth_die("mmap");
	}
	return 0;
}
