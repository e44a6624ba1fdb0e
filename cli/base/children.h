/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that a command starts, and those that these leave behind. */
#ifndef CHUNKPROOF_CLI_BASE_CHILDREN_H
#define CHUNKPROOF_CLI_BASE_CHILDREN_H

#include <spawn.h>
#include <sys/types.h>

/* As posix_spawnp(), which looks a program without a slash up in $PATH. */
int children_spawn(pid_t *process, const char *program, const posix_spawn_file_actions_t *actions,
                   const posix_spawnattr_t *attributes, char *const words[]);

/* Did children_spawn() start it, and is it not forgotten? */
int children_is_own(pid_t process);

/* Has the process ended? Leaves its status to waitpid(). */
int children_has_ended(pid_t process);

/* To be called once waitpid() has returned the process. */
void children_forget(pid_t process);

/* From now on a process whose parent has ended becomes a child of this one, whatever group or
 * session it is in. 1, or 0: the system has no such thing. */
int children_adopt(void);
int children_are_adopted(void);

/* Ends all children that children_spawn() did not start, and theirs. Does nothing before
 * children_adopt(). 0, or -1: some are still there after a few seconds. */
int children_end_orphans(void);

#endif
