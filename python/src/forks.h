// Forks of this process while batches were leased, and whether a process that reads them exists.
//
// The caller holds one lock around all calls: fork_begins(), then in each process its own function,
// as pthread_atfork() calls them.

#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

/// `reads`: whether the child reads leases of the program.
void fork_begins(int reads);
void fork_in_parent(void);
void fork_in_child(void);

int64_t fork_count(void);

/// Of the forks behind the first `since` and up to the first `until`, whether one that reads has a
/// process: its child, or what that has forked. One whose end nobody can know has it for ever.
int fork_has_children(int64_t since, int64_t until);

#pragma GCC visibility pop
