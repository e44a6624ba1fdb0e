/* SPDX-License-Identifier: Apache-2.0 */
/* The order of sequences: a list, and over it a search tree that counts, for indices in O(log b).
 * It is a treap: a heap by cp_opt_is_higher(), from left to right the list. */
#include "tree_internal.h"

int cp_opt_is_higher(const struct cp_opt_tree *tree, int a, int b) {
    unsigned long long x = ((unsigned)a + tree->sizes.seed) * 0x9E3779B97F4A7C15ULL;
    unsigned long long y = ((unsigned)b + tree->sizes.seed) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
    y = (y ^ (y >> 32)) * 0xD6E8FEB86659FD93ULL;
    return x > y || (x == y && a < b);
}

static int size_of(const struct cp_opt_tree *tree, int s) {
    return s < 0 ? 0 : tree->sequence[s].size;
}

/* What hung `from` at its parent `up`, the root with -1, now hangs `to` there. */
static void replace(struct cp_opt_tree *tree, int up, int from, int to) {
    if (up < 0) {
        tree->root = to;
    } else if (tree->sequence[up].left == from) {
        tree->sequence[up].left = to;
    } else {
        tree->sequence[up].right = to;
    }
    if (to >= 0) {
        tree->sequence[to].up = up;
    }
}

/* s takes the place of its parent, which becomes its child; the order from left to right stays. */
static void rotate_up(struct cp_opt_tree *tree, int s) {
    struct cp_opt_sequence *sequence = tree->sequence;
    int parent = sequence[s].up, between;
    replace(tree, sequence[parent].up, parent, s);
    if (sequence[parent].left == s) {
        between = sequence[s].right;
        sequence[parent].left = between;
        sequence[s].right = parent;
    } else {
        between = sequence[s].left;
        sequence[parent].right = between;
        sequence[s].left = parent;
    }
    if (between >= 0) {
        sequence[between].up = parent;
    }
    sequence[parent].up = s;
    sequence[s].size = sequence[parent].size;
    sequence[parent].size =
        1 + size_of(tree, sequence[parent].left) + size_of(tree, sequence[parent].right);
}

/* Links b right after a in the list; -1 stands for both ends of the list. */
static void link_list(struct cp_opt_tree *tree, int a, int b) {
    if (a < 0) {
        tree->first = b;
    } else {
        tree->sequence[a].next = b;
    }
    if (b < 0) {
        tree->last = a;
    } else {
        tree->sequence[b].previous = a;
    }
}

void cp_opt_insert(struct cp_opt_tree *tree, int s, int behind) {
    struct cp_opt_sequence *sequence = tree->sequence;
    int next = behind < 0 ? -1 : sequence[behind].next;
    link_list(tree, behind, s);
    link_list(tree, s, next);
    sequence[s].left = sequence[s].right = sequence[s].up = -1;
    sequence[s].size = 1;
    if (behind < 0) {
        tree->root = s;
    } else if (sequence[behind].right < 0) {
        sequence[behind].right = s;
        sequence[s].up = behind;
    } else { /* the next sequence is the leftmost one to the right of `behind` */
        sequence[next].left = s;
        sequence[s].up = next;
    }
    for (int up = sequence[s].up; up >= 0; up = sequence[up].up) {
        sequence[up].size++;
    }
    while (sequence[s].up >= 0 && cp_opt_is_higher(tree, s, sequence[s].up)) {
        rotate_up(tree, s);
    }
}

void cp_opt_remove(struct cp_opt_tree *tree, int s) {
    struct cp_opt_sequence *sequence = tree->sequence;
    int left, right;
    while ((left = sequence[s].left, right = sequence[s].right, left >= 0 && right >= 0)) {
        rotate_up(tree, cp_opt_is_higher(tree, left, right) ? left : right);
    }
    replace(tree, sequence[s].up, s, left >= 0 ? left : right);
    for (int up = sequence[s].up; up >= 0; up = sequence[up].up) {
        sequence[up].size--;
    }
    sequence[s].size = 0;
    link_list(tree, sequence[s].previous, sequence[s].next);
}

int cp_opt_tree_index(const struct cp_opt_tree *tree, int s) {
    const struct cp_opt_sequence *sequence = tree->sequence;
    int index = size_of(tree, sequence[s].left);
    for (int up = sequence[s].up; up >= 0; s = up, up = sequence[s].up) {
        if (sequence[up].right == s) {
            index += 1 + size_of(tree, sequence[up].left);
        }
    }
    return index;
}

int cp_opt_tree_at(const struct cp_opt_tree *tree, int index) {
    const struct cp_opt_sequence *sequence = tree->sequence;
    int s = tree->root;
    for (;;) {
        int left = size_of(tree, sequence[s].left);
        if (index == left) {
            return s;
        }
        if (index < left) {
            s = sequence[s].left;
        } else {
            index -= left + 1;
            s = sequence[s].right;
        }
    }
}

void cp_opt_tree_range(const struct cp_opt_tree *tree, int chunk, int *begin, int *end) {
    *begin = cp_opt_tree_index(tree, tree->chunk[chunk].first);
    *end = tree->chunk[chunk].first == tree->chunk[chunk].last
               ? *begin + 1
               : cp_opt_tree_index(tree, tree->chunk[chunk].last) + 1;
}

/* ---- The invariant ---- */

/* A child is alive, hangs here, is lower. */
static int child_is_valid(const struct cp_opt_tree *tree, int s, int child) {
    return child == -1 || (cp_opt_tree_is_alive(tree, child) && child != s &&
                           tree->sequence[child].up == s && cp_opt_is_higher(tree, s, child));
}

static int is_valid_in_the_search_tree(const struct cp_opt_tree *tree, int s) {
    return child_is_valid(tree, s, tree->sequence[s].left) &&
           child_is_valid(tree, s, tree->sequence[s].right) &&
           (tree->sequence[s].left != tree->sequence[s].right || tree->sequence[s].left == -1) &&
           tree->sequence[s].size == 1LL + size_of(tree, tree->sequence[s].left) +
                                         size_of(tree, tree->sequence[s].right) &&
           (tree->sequence[s].up == -1 ? tree->root == s
                                       : cp_opt_tree_is_alive(tree, tree->sequence[s].up) &&
                                             (tree->sequence[tree->sequence[s].up].left == s ||
                                              tree->sequence[tree->sequence[s].up].right == s));
}

/* The sequence after s, by the search tree. Heights fall from parent to child, so the walk ends. */
static int successor(const struct cp_opt_tree *tree, int s) {
    const struct cp_opt_sequence *sequence = tree->sequence;
    if (sequence[s].right >= 0) {
        s = sequence[s].right;
        while (sequence[s].left >= 0) {
            s = sequence[s].left;
        }
        return s;
    }
    while (sequence[s].up >= 0 && sequence[sequence[s].up].right == s) {
        s = sequence[s].up;
    }
    return sequence[s].up;
}

/* Is every handle that the list has alive, and are there as many as there must be? */
static int list_is_valid(const struct cp_opt_tree *tree) {
    int n = 0, previous = -1, s = tree->first;
    for (; s != -1; previous = s, s = tree->sequence[s].next, n++) {
        if (n == tree->n_sequences || !cp_opt_tree_is_alive(tree, s) ||
            tree->sequence[s].previous != previous) {
            return 0;
        }
    }
    return n == tree->n_sequences && tree->last == previous;
}

const char *cp_opt_check_order(const struct cp_opt_tree *tree) {
    if (tree->n_sequences < 0 || tree->n_sequences > tree->sizes.max_sequences ||
        !list_is_valid(tree) || (tree->n_sequences == 0) != (tree->root == -1)) {
        return "TREE-5";
    }
    /* Of every handle, so that no search leads to one that was not looked at. */
    int alive = 0;
    for (int s = 0; s < tree->fresh_sequence; s++) {
        alive += tree->sequence[s].size != 0;
        if (tree->sequence[s].size != 0 && !is_valid_in_the_search_tree(tree, s)) {
            return "TREE-5";
        }
    }
    if (alive != tree->n_sequences) {
        return "TREE-5";
    }
    for (int s = tree->first; s >= 0; s = tree->sequence[s].next) {
        if (successor(tree, s) != tree->sequence[s].next) {
            return "TREE-5";
        }
    }
    return NULL;
}
