// A child that reads leases, and what it forks, have a page of a memory file mapped until they end
// or execute a program. As long as that is so, no seal against writing can be set on the file. (The
// end of a pipe is closed by any process that makes a daemon of itself.)

#define _GNU_SOURCE  // memfd_create()
#include "forks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };

typedef struct Fork {
  int64_t number;
  int descriptor;
  struct Fork* next;
} Fork;

static int64_t count;
static int64_t unwatched;  // number of the last one whose end nobody can know
static Fork* watched;
static Fork* made;  // the one that is under way, and its page
static void* page;

static void forget(Fork* one) {
  close(one->descriptor);
  free(one);
}

static void drop_ended(void) {
  Fork** place = &watched;
  while (*place != NULL) {
    Fork* one = *place;
    if (fcntl(one->descriptor, F_ADD_SEALS, F_SEAL_WRITE) < 0) {
      place = &one->next;
      continue;
    }
    *place = one->next;
    forget(one);
  }
}

static int watch(void) {
  made = malloc(sizeof *made);
  if (made == NULL) return -1;
  *made = (Fork){.number = count};
  made->descriptor = memfd_create("brigade-fork", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made->descriptor >= 0 && ftruncate(made->descriptor, kPage) == 0) {
    page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, made->descriptor, 0);
    if (page != MAP_FAILED) return 0;
  }
  if (made->descriptor >= 0) close(made->descriptor);
  free(made);
  made = NULL;
  return -1;
}

void fork_begins(int reads) {
  ++count;
  if (!reads) return;
  drop_ended();
  if (watch() < 0) unwatched = count;
}

void fork_in_parent(void) {
  if (made == NULL) return;
  munmap(page, kPage);
  made->next = watched;
  watched = made;
  made = NULL;
}

void fork_in_child(void) {
  if (made != NULL) forget(made);  // the page stays
  made = NULL;
  while (watched != NULL) {
    Fork* next = watched->next;
    forget(watched);
    watched = next;
  }
  count = unwatched = 0;
}

int64_t fork_count(void) { return count; }

int fork_has_children(int64_t since, int64_t until) {
  drop_ended();
  if (since < unwatched && unwatched <= until) return 1;
  for (const Fork* one = watched; one != NULL; one = one->next)
    if (since < one->number && one->number <= until) return 1;
  return 0;
}
