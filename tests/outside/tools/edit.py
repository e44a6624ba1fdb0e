import pathlib
def ed(f, *reps):
    p=pathlib.Path(f); t=p.read_text()
    for a,b,*n in reps:
        k=n[0] if n else 1
        assert t.count(a)==k,(f,a,t.count(a))
        t=t.replace(a,b)
    p.write_text(t)
ed('masks/deft_columns.c',
 (' * word of 64 bits that says which of 64 rows see it; then keys stand still, and each is loaded once for\n * the rows of its word. Rows of a sequence rise in position, so that those that see a key by its\n * window are a range.',
  ' * word of 64 bits that says which of 64 rows see it; then keys stand still, and each is loaded once\n * for the rows of its word. Rows of a sequence rise in position, so that those that see a key by its\n * window are a range.'),
 ('column(const struct cp_kernel_call *c, int s, int r0','column(const struct cp_kernel_call *c, int r0'),
 ('    (void)s;\n',''),('column(c, s, r0','column(c, r0',4),
 ('    (void)at;\n',''),('                (void)rank;\n',''),
 ('                int rank = 0;\n','#if MISTAKE == 15\n                int rank = 0;\n#endif\n'))
ed('masks/eagle_verify.c',
 ('    int begin = c->mask_begin[r], q0 = c->query_begin[s];\n    size_t first = c->mask_first[r];\n    (void)q0;\n',
  '    int begin = c->mask_begin[r];\n    size_t first = c->mask_first[r];\n#if MISTAKE == 5 || MISTAKE == 6\n    int q0 = c->query_begin[s];\n#endif\n'))
ed('masks/flex_blocks.c',
 (' * prompt, diffusion of blocks): `ahead` with a mask alone, keys of varlen batches one sequence\n * after another. Blocks of 8 rows and 32 keys are first sorted into empty, full and partial ones;\n * then the full ones are weighed without the mask, and the partial ones with it. Binary32, ragged. */',
  ' * prompt, diffusion of blocks): `ahead` with a mask alone, keys of varlen batches one sequence\n * after another. Blocks of 8 rows and 32 keys are first sorted into empty, full and partial ones;\n * then the full ones are weighed without the mask, and the partial ones with it. Binary32, ragged. */'),
 ('    (void)all;\n',''),('    (void)r0;\n',''),
 ('static void row(const struct cp_kernel_call *c, int s, int r, int r0, int a)','static void row(const struct cp_kernel_call *c, int s, int r, int a)'),
 ('row(c, s, r, r0, a)','row(c, s, r, a)'),
 ('    mr = r0; /* partial','    mr = r - (r - c->query_begin[s]) % ROWS; /* partial'))
ed('masks/ggml_softmax.c',('    (void)mr;\n',''),
 ('                int rank = 0;\n                (void)rank;\n','#if MISTAKE == 10\n                int rank = 0;\n#endif\n'))
ed('masks/lists_two_phase.c',
 ('        int first = c->query_begin[c->served[sh->begin]], offset = 0;\n        (void)first;\n',
  '#if MISTAKE == 10 || MISTAKE == 12\n        int first = c->query_begin[c->served[sh->begin]];\n#endif\n#if MISTAKE == 12\n        int offset = 0;\n#endif\n'),
 ('            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++, offset++)\n',
  '#if MISTAKE == 12\n            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++, offset++)\n#else\n            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)\n#endif\n'))
S='#if MISTAKE == 1 || MISTAKE == 2 || MISTAKE == 6 || MISTAKE == 17\n'
t=pathlib.Path('masks/two_phase_bits.c').read_text()
ed('masks/two_phase_bits.c',('    (void)shared;\n',''),
 ('                  int a, int shared)\n',S+'                  int a, int shared)\n#else\n                  int a)\n#endif\n'))
ed('masks/vllm_tree.c',
 ('static float bias(const struct cp_kernel_call *c, int s, int r, int t)','static float bias(const struct cp_kernel_call *c, int r, int t)'),
 ('bias(c, s, ','bias(c, ',4),
 ('    int begin, rows = c->query_begin[s + 1] - c->query_begin[s];\n    (void)rows;\n',
  '    int begin;\n#if MISTAKE == 3 || MISTAKE == 4\n    int s = 0, rows;\n    while (c->query_begin[s + 1] <= r)\n        s++;\n    rows = c->query_begin[s + 1] - c->query_begin[s];\n#endif\n'))
ed('masks/window_ranges.c',('    (void)i;\n',''),
 (' * and a mask as well: the two ranges of WINDOW-2 of each run, cut into the ranges that the mask leaves\n * (MASK-2), a state for each, merged.',' * and a mask as well: the two ranges of WINDOW-2 of each run, cut into the ranges that the mask\n * leaves (MASK-2), a state for each, merged.'))
ed('widths/fa3_varlen.c',
 ('static void row_of(const struct cp_kernel_call *c, struct work *w, int i, int first, int seen,\n                   int bound) {\n',
  '#if MISTAKE == 4\nstatic void row_of(const struct cp_kernel_call *c, struct work *w, int i, int seen, int bound) {\n#elif MISTAKE == 8\nstatic void row_of(const struct cp_kernel_call *c, struct work *w, int i, int seen, int first) {\n#else\nstatic void row_of(const struct cp_kernel_call *c, struct work *w, int i, int seen) {\n#endif\n'),
 ('    (void)bound;\n',''),('    (void)first;\n',''),('    (void)dv;\n',''),
 ('                        row_of(c, w, i, first, seen, c->capacity - c->page_begin[s] - first);\n',
  '#if MISTAKE == 4\n                        row_of(c, w, i, seen, c->capacity - c->page_begin[s] - first);\n#elif MISTAKE == 8\n                        row_of(c, w, i, seen, first);\n#else\n                        row_of(c, w, i, seen);\n#endif\n'))
T='#if MISTAKE == 6 || MISTAKE == 7 || MISTAKE == 8\n'
ed('widths/flashmla_576.c',
 ('static void values(struct work *w, int i, int group, int buffer, int seen, int tile, int tiles) {\n    (void)' if 0 else 'static void values(struct work *w, int i, int group, int buffer, int seen, int tile, int tiles) {\n',
  T+'static void values(struct work *w, int i, int group, int buffer, int seen, int tile, int tiles) {\n#else\nstatic void values(struct work *w, int i, int group, int buffer, int seen) {\n#endif\n'),
 ('    (void)tile;\n    (void)tiles;\n',''),
 ('                    values(w, i, 0, t % 2, seen, t, tiles);\n                    values(w, i, 1, t % 2, seen, t, tiles);\n',
  T+'                    values(w, i, 0, t % 2, seen, t, tiles);\n                    values(w, i, 1, t % 2, seen, t, tiles);\n#else\n                    values(w, i, 0, t % 2, seen);\n                    values(w, i, 1, t % 2, seen);\n#endif\n'))
A='#if MISTAKE == 12 || MISTAKE == 16\n'
ed('widths/window_sink_widths.c',('            (void)before;\n',''),('    (void)any;\n',''),
 ('    int any = 0;\n',A+'    int any = 0;\n#endif\n'),('                any = 1;\n',A+'                any = 1;\n#endif\n'),
 ('            const int before = any;\n','#if MISTAKE == 12\n            const int before = any;\n#endif\n'))
ed('masks/two_phase_bits.c',
 ('                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a, 1);\n                if','                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a);\n                if'),
 ('                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a, 1);\n            }',
  S+'                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a, 1);\n#else\n                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a);\n#endif\n            }'),
 ('                    chunk(c, c->table[at], c->table_tokens[at], position, r, r, a, 0);\n',
  S+'                    chunk(c, c->table[at], c->table_tokens[at], position, r, r, a, 0);\n#else\n                    chunk(c, c->table[at], c->table_tokens[at], position, r, r, a);\n#endif\n'))

ed('masks/lists_two_phase.c',
 ('        int before = 0;\n','#if MISTAKE == 14\n        int before = 0;\n#endif\n'),
 ('            before += c->table_tokens[at];\n','#if MISTAKE == 14\n            before += c->table_tokens[at];\n#endif\n'))

ed('masks/lists_two_phase.c',(' The mask of a row and a run becomes one word of 64 slots; runs\n * that no row of a list sees are left out. Plans of lists',' The mask of a row and a run becomes words of 64\n * slots. Plans of lists'))
ed('masks/ggml_softmax.c',("Modelled on llama.cpp's attention without flash:","Modelled on ggml's attention without flash:"))
