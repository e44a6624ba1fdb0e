/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are there once and for all, and meet at barriers. */
#ifndef CHUNKPROOF_OPT_TEAM_H
#define CHUNKPROOF_OPT_TEAM_H

struct opt_team;

/* What each thread of the team does, number 0 .. n_threads - 1. */
typedef void opt_work_function(void *problem, int thread);

/* NULL: the system gave no memory or no thread. The calling thread is number 0. */
struct opt_team *cp_opt_team_new(int n_threads);
void cp_opt_team_free(struct opt_team *team);

int cp_opt_team_size(const struct opt_team *team);

/* Each thread calls work(problem, its number); returns when all have. */
void cp_opt_team_run(struct opt_team *team, opt_work_function *work, void *problem);

/* Called by each thread at its work: returns when all have called it, and what one wrote before all see then. */
void cp_opt_team_meet(struct opt_team *team);

#endif
