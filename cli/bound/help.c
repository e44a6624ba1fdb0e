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

static void print_row(FILE *file) {
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
}

void bound_options_help(FILE *file) {
    print_row(file);
    fputs(
        "                        (edges depend on --chunk; the fuzzer's adversarial values need\n"
        "                        a kernel)\n"
        "  --seed N              another seed gives other numbers (1)\n"
        "  --input FORMAT        of Q, K and V: fp16 (default), bf16, fp32\n"
        "  --case FILE           take this row instead, from JSON: {\"scale\": s, \"q\": [...],\n"
        "                        \"k\": [[...], ...], \"v\": [[...], ...]}. Without scale:\n"
        "                        1/sqrt(d), d numbers per key. There may be \"positions\": [...],\n"
        "                        of the keys (0, 1, ...), \"position\": p, of the query (the\n"
        "                        largest of these), and \"biases\": [...], what a table adds to\n"
        "                        each score (SCORE-5). FILE - is the standard input. The numbers\n"
        "                        are taken as they are, or rounded to --input\n"
        "  --save FILE           write the row to FILE, for --case\n"
        "\n"
        "K and V in 8 bits; by default they are as --input says:\n"
        "  --cache FORMAT, --cache-k FORMAT, --cache-v FORMAT  of K and V, of K, of V: plain\n"
        "                        (default), or of 8 bits with one scale: e4m3, e5m2, int8 "
        "(NUM-18)\n"
        "  --scale-k S, --scale-v S  their scales; by default the largest number becomes the\n"
        "                        largest one of the format\n"
        "  --dequantised-k FORMAT, --dequantised-v FORMAT  of numbers times their scale: fp32\n"
        "                        (default), fp16, bf16 (NUM-19)\n"
        "\n"
        "the kernel's class; by default everything is done in binary32, rounded to nearest.\n"
        "Its scores:\n"
        "  --score HOW           how the products of Q and K are added: sequential (default),\n"
        "                        pairwise, tensor-core (blocks of 16, truncated at 25 bits),\n"
        "                        fp16, or bf16\n"
        "  --score-promotes N    sums of N products are promoted, and added in fp32 (NUM-20);\n"
        "                        0 (default): one sum of all\n"
        "  --scaled-query FORMAT the query is scaled instead of the scores, and rounded to fp16\n"
        "                        or bf16 (CONV-4); no (default)\n"
        "\n"
        "what changes them, in nats:\n"
        "  --cap C               scores are capped, as C tanh(s / C) (SCORE-1)\n"
        "  --tanh-error X, --tanh-absolute X  of tanh: a relative error (2^-22) and an absolute\n"
        "                        one (0), to 2^-6 each (NUM-15)\n"
        "  --slope S             scores get a bias, S (key's position - query's) (SCORE-2)\n"
        "  --bias B              scores get a bias from a table, -B to B at random (SCORE-5)\n"
        "  --cap-last            the sum of score and bias is capped (CONV-7)\n"
        "  --sink L              there is a sink, a key of this score and no value (SCORE-3)\n",
        file);
    fputs(
        "\n"
        "its weights and the sums of P V:\n"
        "  --exp-error X         relative error of an exponential (2^-23 = 1.2e-7)\n"
        "  --weights FORMAT      of P: fp16 (default), bf16, fp32\n"
        "  --rounded-sum         the row sum takes P after rounding\n"
        "  --accumulate HOW      how P V is added: fp32 (default), fp16, bf16, or tensor-core\n"
        "                        (blocks of 16 keys, truncated at 25 bits, in fp32; the row sum\n"
        "                        stays in fp32)\n"
        "  --accumulate-promotes N  as --score-promotes, of P V\n"
        "\n"
        "its states and merges:\n"
        "  --chunk N             keys that are summed before a merge (64)\n"
        "  --merges HOW          how the chunks' states are merged: in a chain (default), in a\n"
        "                        balanced tree, or running (no merges: each chunk is added to one\n"
        "                        state), or any (in any order, as the gate counts: GATE-2)\n"
        "  --parts N, --part-keys N  the most partial results of a row, and the fewest keys of\n"
        "                        one but for its first and last; 0 (default): one for each chunk\n"
        "  --partials FORMAT     of stored states: fp32 (default), fp16, bf16\n"
        "  --factors FORMAT      of the factors by which states change: fp32 (default), fp16, "
        "bf16\n"
        "  --above X, --behind X how far references may be above the maximum, and below it, in\n"
        "                        nats: 0 (default) to 11 each (NUM-21)\n"
        "\n"
        "its divisions and output:\n"
        "  --divide WHEN         deferred to the end (default), or immediate for each state\n"
        "  --part-lse FORMAT     of log-sum-exps that divided states keep: fp32 (default), fp16,\n"
        "                        bf16 (NUM-22)\n"
        "  --normalises          each weight is divided by the row sum, rounded to --weights, and\n"
        "                        then multiplied by V; states are not divided\n"
        "  --divide-error X      relative error of a division beyond rounding: 0 (default) to\n"
        "                        2^-6, as 2^-22 of an approximate reciprocal (GATE-15)\n"
        "  --epsilon E           what is added to a row sum before a division: 0 (default) to "
        "2^-6\n"
        "  --output FORMAT       fp16 (default), bf16, fp32\n"
        "\n"
        "all of it:\n"
        "  --truncate            everything is truncated instead of rounded to nearest\n"
        "  --flush               subnormal numbers become 0\n"
        "\n"
        "the report:\n"
        "  --json                print one JSON object instead of the table, with B of each "
        "number,\n"
        "                        and the class as the numbers that cp_tolerance() takes\n"
        "                        (spec/bound-report.schema.json)\n"
        "  --time                measure what computing the bound costs, compared with the\n"
        "                        reference's attention (1024, 4096 and 16384 keys, or --keys)\n"
        "  -h, --help            this text\n",
        file);
    fputs("\n"
          "what does not go together:\n"
          "  --case                    not with --keys, --head-dim, --value-dim, --family, --seed, "
          "--bias\n"
          "  --slope                   not with --bias, or a case that has biases\n"
          "  --cap-last, --tanh-error, --tanh-absolute  only with --cap\n"
          "  --scale-k, --dequantised-k, and of V  only with a cache of 8 bits for it\n"
          "  --score-promotes          only with --score fp16 or bf16\n"
          "  --accumulate-promotes     only with --accumulate fp16 or bf16\n"
          "  --rounded-sum             not with --weights fp32\n"
          "  --parts, --part-keys      only with --merges any\n"
          "  --merges running          not with --partials fp16 or bf16, or --divide immediate\n"
          "  --part-lse fp16, bf16     only with --divide immediate\n"
          "  --normalises              not with --divide immediate, --rounded-sum, --above, "
          "--behind\n"
          "  --time                    only with --keys, --head-dim and --chunk\n"
          "An option with a value is given once.\n"
          "\n"
          "examples:\n"
          "  chunkproof bound --weights bf16 --output bf16\n"
          "  chunkproof bound --keys 8192 --score tensor-core --accumulate tensor-core --merges "
          "running\n"
          "  chunkproof bound --cache e4m3 --cap 50 --sink -3\n"
          "  chunkproof bound --keys 64 --family wide --save row.json\n"
          "  chunkproof bound --case row.json --divide immediate --json >row-bound.json\n"
          "\n"
          "exit status:\n"
          "  0  whatever the bound is, even where it is infinite (the output says why)\n"
          "  2  bad use, a malformed case, no memory, or output that cannot be written\n",
          file);
}
