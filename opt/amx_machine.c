/* SPDX-License-Identifier: Apache-2.0 */
/* Has this machine AMX? In a file of its own: a program may have another answer, and then it is
 * that which counts. */
#include "opt/kernels.h"

#if defined(__x86_64__)
#include "opt/cpu.h"

int cp_opt_has_amx(void) {
    return cp_opt_has_avx512() && opt_cpu_grants_amx();
}

#else

int cp_opt_has_amx(void) {
    return 0;
}

#endif
