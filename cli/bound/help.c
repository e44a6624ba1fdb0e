/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/bound/bound.h"

static void print_names(FILE *file, const char *const *name) {
    int column = 24;
    fputs("                       ", file);
    for (; *name != NULL; name++) {
        if (column + (int)strlen(*name) > 88) {
            fputs("\n                       ", file);
            column = 24;
        }
        column += fprintf(file, " %s%s", *name, name[1] == NULL ? "" : ",");
    }
    fputs("\n", file);
}

void bound_options_help(FILE *file) {
    fputs("usage: chunkproof bound [OPTION]...\n"
          "       chunkproof bound [OPTION]... --case FILE\n"
          "       chunkproof bound --time [--keys N] [--head-dim N] [--chunk N]\n"
          "\n"
          "The certified tolerance of one query row (spec/tolerance.md): for each number of the\n"
          "output, how far from attention a right kernel may be, and which part of the arithmetic\n"
          "causes how much of it. The command helps to choose an arithmetic. It computes only the\n"
          "bound: no kernel runs, and there is no verdict.\n"
          "\n"
          "the row:\n"
          "  --keys N              keys that it sees (1024)\n"
          "  --head-dim N          numbers of a key (128)\n"
          "  --value-dim N         numbers of a value (as many as of a key)\n"
          "  --family NAME         how the numbers are distributed (normal):\n",
          file);
    print_names(file, bound_family_names);
    fputs(
        "                        (edges depend on --chunk; the fuzzer's adversarial values need\n"
        "                        a kernel)\n"
        "  --seed N              another seed gives other numbers (1)\n"
        "  --input FORMAT        of Q, K and V: fp16 (default), bf16, fp32\n"
        "  --cache FORMAT, --cache-k FORMAT, --cache-v FORMAT  of K and V, of K, of V: plain\n"
        "                        (default, as --input), or of 8 bits with one scale: e4m3, e5m2,\n"
        "                        int8 (NUM-18)\n"
        "  --scale-k S, --scale-v S  their scales; left out, the largest number becomes the\n"
        "                        largest one of the format\n"
        "  --case FILE           take this row instead, from JSON: {\"scale\": s, \"q\": [...],\n"
        "                        \"k\": [[...], ...], \"v\": [[...], ...]}. Without scale:\n"
        "                        1/sqrt(d), d numbers per key. There may be \"positions\": [...],\n"
        "                        of the keys (0, 1, ...), \"position\": p, of the query (the\n"
        "                        largest of these), and \"biases\": [...], what a table adds to\n"
        "                        each score (SCORE-5). FILE - is the standard input. The numbers\n"
        "                        are taken as they are, or rounded to --input\n"
        "  --save FILE           write the row to FILE, for --case\n"
        "\n"
        "the kernel's class; by default everything is done in binary32, rounded to nearest:\n"
        "  --score HOW           how the products of Q and K are added: sequential (default),\n"
        "                        pairwise, tensor-core (blocks of 16, truncated at 25 bits),\n"
        "                        fp16, or bf16\n"
        "  --score-promotes N    with fp16 and bf16: sums of N products are promoted, and added "
        "in\n"
        "                        fp32 (NUM-20); 0 (default): one sum of all\n"
        "  --scaled-query FORMAT the query is scaled instead of the scores, and rounded to fp16\n"
        "                        or bf16 (CONV-4); no (default)\n"
        "  --dequantised-k FORMAT, --dequantised-v FORMAT  with caches of 8 bits, of numbers "
        "times\n"
        "                        their scale: fp32 (default), fp16, bf16 (NUM-19)\n"
        "  --exp-error X         relative error of an exponential (2^-23 = 1.2e-7)\n"
        "  --weights FORMAT      of P: fp16 (default), bf16, fp32\n"
        "  --rounded-sum         the row sum takes P after rounding\n"
        "  --accumulate HOW      how P V is added: fp32 (default), fp16, bf16, or tensor-core "
        "(blocks "
        "of\n"
        "                        16 keys, truncated at 25 bits, in fp32; the row sum stays in\n"
        "                        fp32)\n"
        "  --accumulate-promotes N  as --score-promotes, of P V\n",
        file);
    fputs(
        "  --chunk N             keys that are summed before a merge (64)\n"
        "  --merges HOW          how the chunks' states are merged: in a chain (default), in a\n"
        "                        balanced tree, or running (no merges: each chunk is added to one\n"
        "                        state), or any (whichever order: what the gate counts, GATE-2)\n"
        "  --parts N, --part-keys N  with --merges any, the most partial results of a row, and "
        "the\n"
        "                        fewest keys of one but for its first and last; 0 (default): one\n"
        "                        for each chunk\n"
        "  --factors FORMAT      of the factors by which states change: fp32 (default), fp16, "
        "bf16\n"
        "  --above X, --behind X how far references may be above the maximum, and below it, in\n"
        "                        nats: 0 (default) to 11 each (NUM-21)\n"
        "  --cap C               scores are capped, as C tanh(s / C), in nats (SCORE-1)\n"
        "  --tanh-error X, --tanh-absolute X  with --cap, of tanh: a relative error (2^-22) and\n"
        "                        an absolute one (0), to 2^-6 each (NUM-15)\n"
        "  --slope S             scores get a bias, S times key's position less query's (SCORE-2)\n"
        "  --bias B              scores get a bias from a table, -B to B at random (SCORE-5)\n"
        "  --cap-last            with --cap, the sum of score and bias is capped (CONV-7)\n"
        "  --sink L              there is a sink, a key of this score and no value (SCORE-3)\n"
        "  --partials FORMAT     of stored states: fp32 (default), fp16, bf16\n"
        "  --divide WHEN         deferred to the end (default), or immediate for each state\n"
        "  --normalises          each weight is divided by the row sum, rounded to --weights, and "
        "then\n"
        "                        multiplied by V; states are not divided\n"
        "  --divide-error X      relative error of a division beside its rounding: 0 (default) to\n"
        "                        2^-6, as 2^-22 of an approximate reciprocal (GATE-15)\n"
        "  --epsilon E           what is added to a row sum before a division: 0 (default) to "
        "2^-6\n"
        "  --part-lse FORMAT     with --divide immediate, of log-sum-exps that states keep: fp32\n"
        "                        (default), fp16, bf16 (NUM-22)\n"
        "  --output FORMAT       fp16 (default), bf16, fp32\n"
        "  --truncate            everything is truncated instead of rounded to nearest\n"
        "  --flush               subnormal numbers become 0\n"
        "\n"
        "output:\n"
        "  --json                print one JSON object instead of the table; its \"declared\" has "
        "the\n"
        "                        class as the numbers that cp_tolerance() takes\n"
        "  --time                measure what computing the bound costs, compared with the\n"
        "                        reference's attention (1024, 4096 and 16384 keys, or --keys);\n"
        "                        only with --keys, --head-dim and --chunk\n"
        "  -h, --help            this text\n"
        "\n"
        "exit status:\n"
        "  0  whatever the bound is, even where it is infinite (the output says why)\n"
        "  2  bad use, a malformed case, no memory, or output that cannot be written\n",
        file);
}
