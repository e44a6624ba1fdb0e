/* SPDX-License-Identifier: Apache-2.0 */
/* What a struct cp_opt holds. */
#ifndef CHUNKPROOF_OPT_HANDLE_H
#define CHUNKPROOF_OPT_HANDLE_H

#include "chunkproof/opt.h"
#include "opt/kernels.h"
#include "opt/team.h"

struct cp_opt {
    int version;
    struct cp_opt_kernels kernels;
    struct opt_team *team;
};

#endif
