/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"

struct server {
    const struct simulate_load *load;
    const struct trace *trace;
    const struct simulate_settings *settings;
    struct simulate_run *run;
    struct cp_tree *tree;
    long long now;
    int next;           /* the first request that was neither admitted nor rejected */
    int arrived;        /* the first that has not arrived yet */
    int waiting;        /* have arrived, were not admitted */
    int prepared;       /* the request whose prompt is in token[] and hash[], or -1 */
    long long promised; /* chunks that live sequences are still to take */
    long long stored;   /* distinct tokens in the tree */
    int *token;         /* of a prompt */
    int *append_to;     /* sequences that get a token ... */
    int *appended;      /* ... and the tokens */
    unsigned long long *hash;
};

/* ---- Sizes ---- */

static int chunks_for(const struct server *server, int n_tokens) {
    int chunk = server->settings->chunk;
    return n_tokens / chunk + (n_tokens % chunk > 0);
}

/* Of a request when it is done. */
static int chunks_of(const struct server *server, int r) {
    const struct trace_request *request = &server->trace->request[r];
    return chunks_for(server, request->input_length + request->output_length);
}

static int used_chunks(const struct server *server) {
    return server->tree->pool.capacity - server->tree->pool.n_free;
}

double simulate_chunk_bytes(const struct simulate_settings *settings) {
    return cp_kv_bytes(&settings->model) * settings->chunk;
}

/* ---- The requests in the system ---- */

static int is_too_large(const struct server *server, int r) {
    return chunks_of(server, r) > server->tree->pool.capacity;
}

/* Time goes on to `then`: counts who comes on the way, and how long they and the others are
 * there. */
static void pass_time(struct server *server, long long then) {
    int there = server->waiting + server->tree->n_sequences;
    server->run->in_system += (double)there * (double)(then - server->now);
    for (; server->arrived < server->trace->n_requests &&
           server->run->record[server->arrived].arrived <= then;
         server->arrived++) {
        if (is_too_large(server, server->arrived)) {
            server->run->rejected++;
        } else {
            server->waiting++;
            server->run->in_system += (double)(then - server->run->record[server->arrived].arrived);
        }
    }
    server->now = then;
}

/* ---- Admission ---- */

static unsigned long long salt_of(const struct server *server, int r) {
    return server->settings->sharing ? 0 : (unsigned long long)r + 1;
}

static void prepare(struct server *server, int r) {
    int n = server->trace->request[r].input_length;
    if (server->prepared == r) {
        return;
    }
    for (int k = 0; k < n; k++) {
        server->token[k] = trace_token(server->trace, r, k);
    }
    cp_tree_hash_prompt(server->tree, server->token, n, server->hash);
    server->prepared = r;
}

/* Is there room for all chunks that r will ever take, in addition to those already promised to
 * others? */
static int has_room(struct server *server, int r) {
    int n = server->trace->request[r].input_length;
    struct cp_match match =
        cp_tree_lookup(server->tree, server->token, n, salt_of(server, r), server->hash);
    long long own = chunks_of(server, r) - match.n_chunks;
    return used_chunks(server) + server->promised + own <= server->tree->pool.capacity;
}

static int join(struct server *server, int r, struct simulate_work *work) {
    const struct trace_request *request = &server->trace->request[r];
    struct simulate_run *run = server->run;
    struct cp_joined joined = {-1, 0};
    double n = request->input_length;
    if (cp_tree_join(server->tree, server->token, request->input_length, salt_of(server, r), r,
                     server->hash, &joined) != CP_OK) {
        run->end = SIMULATE_BROKEN;
        return -1;
    }
    double shared = joined.n_shared;
    run->record[r].admitted = server->now;
    run->prompt_tokens += request->input_length;
    run->reused_tokens += joined.n_shared;
    server->promised += chunks_of(server, r) - chunks_for(server, request->input_length);
    server->stored += request->input_length - joined.n_shared;
    work->prefill_tokens += request->input_length - joined.n_shared;
    work->pairs += 0.5 * (n * (n + 1.0) - shared * (shared + 1.0)); /* token p sees p + 1 keys */
    return 0;
}

/* Those that wait, in order, until one finds no room. */
static int admit(struct server *server, struct simulate_work *work) {
    for (; server->next < server->arrived; server->next++) {
        int r = server->next;
        if (is_too_large(server, r)) {
            continue;
        }
        if (server->tree->n_sequences == server->settings->batch) {
            break;
        }
        prepare(server, r);
        if (!has_room(server, r)) {
            if (server->settings->capacity == 0) {
                server->run->end = SIMULATE_POOL_SMALL;
                return -1;
            }
            break;
        }
        if (join(server, r, work) != 0) {
            return -1;
        }
        server->waiting--;
    }
    return 0;
}

/* ---- An iteration ---- */

/* A token for each sequence that has one to come. */
static int decode(struct server *server, struct simulate_work *work) {
    struct cp_tree *tree = server->tree;
    int used = used_chunks(server);
    for (int s = 0; s < tree->n_sequences; s++) {
        int r = (int)tree->sequence[s].id;
        const struct trace_request *request = &server->trace->request[r];
        struct simulate_record *record = &server->run->record[r];
        if (record->made < request->output_length) {
            server->append_to[work->decoding] = s;
            server->appended[work->decoding] =
                trace_token(server->trace, r, request->input_length + record->made);
            work->decoding++;
            record->made++;
            work->pairs += request->input_length + record->made;
        }
    }
    if (cp_tree_append_each(tree, work->decoding, server->append_to, server->appended) != CP_OK) {
        server->run->end = SIMULATE_BROKEN;
        return -1;
    }
    server->promised -= used_chunks(server) - used;
    server->stored += work->decoding;
    work->stored_tokens = server->stored;
    server->run->completion_tokens += work->decoding;
    return 0;
}

/* Tokens that only sequence s has. */
static long long private_tokens(const struct cp_tree *tree, int s) {
    const struct cp_sequence *row = &tree->sequence[s];
    long long n = 0;
    for (int k = 0; k < row->n_chunks; k++) {
        int x = row->chunk[k];
        n += tree->end[x] - tree->begin[x] == 1 ? tree->fill[x] : 0;
    }
    return n;
}

/* Removes the sequences that have all their tokens, from the last one: a leave renumbers those
 * after it. */
static int leave(struct server *server) {
    for (int s = server->tree->n_sequences - 1; s >= 0; s--) {
        int r = (int)server->tree->sequence[s].id;
        struct simulate_record *record = &server->run->record[r];
        record->first = record->first < 0 ? server->now : record->first;
        if (record->made == server->trace->request[r].output_length) {
            server->stored -= private_tokens(server->tree, s);
            record->finished = server->now;
            server->run->finished = server->now;
            if (cp_tree_leave(server->tree, s) != CP_OK) {
                server->run->end = SIMULATE_BROKEN;
                return -1;
            }
        }
    }
    return 0;
}

static void count(struct server *server, const struct simulate_iteration *iteration) {
    struct simulate_run *run = server->run;
    run->iterations++;
    run->busy += iteration->end - iteration->begin;
    run->batch_sum += iteration->live;
    run->peak_batch = iteration->live > run->peak_batch ? iteration->live : run->peak_batch;
    run->peak_chunks = iteration->chunks > run->peak_chunks ? iteration->chunks : run->peak_chunks;
    if (server->settings->observe != NULL) {
        server->settings->observe(server->settings->context, iteration, server->tree);
    }
}

/* Returns 0, or -1 when the run is over. */
static int iterate(struct server *server) {
    const struct simulate_settings *settings = server->settings;
    struct simulate_iteration iteration = {.begin = server->now};
    if (admit(server, &iteration.work) != 0) {
        return -1;
    }
    if (server->tree->n_sequences == 0) { /* nobody waits either: until the next one comes */
        if (server->arrived == server->trace->n_requests) {
            return -1;
        }
        pass_time(server, server->run->record[server->arrived].arrived);
        return 0;
    }
    if (decode(server, &iteration.work) != 0) {
        return -1;
    }
    long long duration = simulate_duration(&settings->cost, &settings->model, &iteration.work);
    if (duration > SIMULATE_END - server->now) {
        server->run->end = SIMULATE_ENDLESS;
        return -1;
    }
    iteration.live = server->tree->n_sequences;
    iteration.chunks = used_chunks(server);
    iteration.end = server->now + duration;
    pass_time(server, iteration.end);
    count(server, &iteration);
    return leave(server);
}

/* ---- The whole ---- */

/* The tree's pool: as large as asked for, or as any batch needs; 0 when a request is too long. */
static int capacity_of(const struct server *server) {
    const struct simulate_settings *settings = server->settings;
    long long longest = 1;
    for (int r = 0; r < server->trace->n_requests; r++) {
        int chunks = chunks_of(server, r);
        longest = chunks > longest ? chunks : longest;
    }
    long long needed = settings->batch * longest;
    needed = settings->capacity > 0 && settings->capacity < needed ? settings->capacity : needed;
    return longest > CP_MAX_DEPTH ? 0 : needed < CP_MAX_CHUNKS ? (int)needed : CP_MAX_CHUNKS;
}

static int start_records(struct server *server) {
    int n = server->trace->n_requests;
    server->run->record = calloc((size_t)n + 1, sizeof *server->run->record);
    for (int r = 0; r < n && server->run->record != NULL; r++) {
        struct simulate_record *record = &server->run->record[r];
        record->arrived = simulate_arrival(server->load, r);
        record->admitted = record->first = record->finished = -1;
    }
    return server->run->record == NULL ? -1 : 0;
}

static int set_up(struct server *server) {
    size_t batch = (size_t)server->settings->batch;
    int longest = 0;
    for (int r = 0; r < server->trace->n_requests; r++) {
        int length = server->trace->request[r].input_length;
        longest = length > longest ? length : longest;
    }
    server->token = malloc(((size_t)longest + 1) * sizeof *server->token);
    server->hash = malloc(CP_MAX_DEPTH * sizeof *server->hash);
    server->append_to = malloc(batch * sizeof *server->append_to);
    server->appended = malloc(batch * sizeof *server->appended);
    int capacity = capacity_of(server);
    if (capacity == 0) {
        server->run->end = SIMULATE_TOO_LONG;
        return -1;
    }
    if (server->token == NULL || server->hash == NULL || server->append_to == NULL ||
        server->appended == NULL || start_records(server) != 0 ||
        cp_tree_new(&server->tree, capacity, server->settings->chunk, 64) != CP_OK) {
        server->run->end = SIMULATE_NO_MEMORY;
        return -1;
    }
    return 0;
}

void simulate(const struct simulate_load *load, const struct simulate_settings *settings,
              struct simulate_run *run) {
    struct server server = {
        .load = load, .trace = &load->trace, .settings = settings, .run = run, .prepared = -1};
    memset(run, 0, sizeof *run);
    if (set_up(&server) == 0) {
        run->started = run->record[0].arrived;
        run->finished = run->started;
        server.now = run->started;
        pass_time(&server, run->started);
        while (iterate(&server) == 0) {
        }
    }
    cp_tree_free(server.tree);
    free(server.token);
    free(server.hash);
    free(server.append_to);
    free(server.appended);
}

void simulate_run_free(struct simulate_run *run) {
    free(run->record);
    run->record = NULL;
}
