/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/status.h"
#include "chunkproof/version.h"

const char *cp_status_text(int status) {
    switch (status) {
    case CP_OK:
        return "no error";
    case CP_ERROR_ARGUMENT:
        return "an argument is out of its documented range";
    case CP_ERROR_POOL_FULL:
        return "the pool has fewer free chunks than the operation needs";
    case CP_ERROR_SEQUENCES_FULL:
        return "the tree holds as many sequences as it can (CP_MAX_SEQUENCES, max_sequences)";
    case CP_ERROR_TOO_LONG:
        return "a sequence would need more chunks than a path can have (CP_MAX_DEPTH, max_depth), "
               "or a schema more positions than it can have (CP_MAX_POSITIONS), or a cache of a "
               "decoder "
               "more entries than its capacity";
    case CP_ERROR_NO_MEMORY:
        return "the system gave no memory";
    case CP_ERROR_STALE:
        return "the plan was made before the tree last changed: bring it up to date";
    case CP_ERROR_SHAPE:
        return "dimensions, types or query ranges do not fit together";
    case CP_ERROR_WORKSPACE:
        return "the workspace is smaller than the implementation says it must be";
    case CP_ERROR_CUDA:
        return "a call to CUDA failed: cp_cuda_text() says which";
    case CP_ERROR_UNSUPPORTED:
        return "right, but not something that this implementation, or this machine, does";
    default:
        return "unknown status";
    }
}

const char *cp_version(void) {
    return CP_VERSION;
}
