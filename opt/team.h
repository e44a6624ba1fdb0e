/* SPDX-License-Identifier: Apache-2.0 */
/* A team of threads, made once, that meet at barriers. */
#ifndef CHUNKPROOF_OPT_TEAM_H
#define CHUNKPROOF_OPT_TEAM_H

struct opt_team;

/* What each thread of the team does; its number is 0 .. n_threads - 1. */
typedef void opt_work_function(void *problem, int thread);

/* NULL: out of memory or threads. The calling thread is number 0. */
struct opt_team *cp_opt_team_new(int n_threads);
void cp_opt_team_free(struct opt_team *team);

int cp_opt_team_size(const struct opt_team *team);

/* Each thread calls work(problem, its number). Returns when all calls have returned. */
void cp_opt_team_run(struct opt_team *team, opt_work_function *work, void *problem);

/* A barrier. Each thread calls it during its work. It returns when all have called it; then each
 * thread sees what the others wrote before. */
void cp_opt_team_meet(struct opt_team *team);

#endif
