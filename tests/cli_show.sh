#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof show`: drawings against files of tests/golden/show, what the figures must say, and
# what bad input must give. usage: tests/cli_show.sh [COMMAND]; GOLDEN=write makes the files anew.
set -u
here=$(cd "$(dirname "$0")" && pwd)
command=${1:-$here/../build/chunkproof}
command=$(cd "$(dirname "$command")" && pwd)/$(basename "$command")
golden=$here/golden/show
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PYTHONUTF8=1
n=0 failed=0

show() { "$command" show "$@"; }

# test_that NAME COMMAND...: the command succeeds; what it says is shown when it does not.
test_that() {
    local name=$1
    shift
    n=$((n + 1))
    if "$@" >test.log 2>&1; then
        echo "ok $n - show: $name"
    else
        failed=$((failed + 1))
        echo "not ok $n - show: $name"
        sed 's/^/# /' test.log
    fi
}

# ---- Drawings as they were looked at once ----

matches() {
    local file=$golden/$1
    shift
    show "$@" >drawing || return 1
    [ "${GOLDEN:-}" != write ] || cp drawing "$file"
    diff -u "$file" drawing
}

test_that "figure 1 as text" matches figure1.txt --example figure1
test_that "figure 2 as text" matches figure2.txt --example figure2
test_that "figure 2 in ASCII" matches figure2-ascii.txt --example figure2 --ascii
test_that "figure 2 as DOT" matches figure2.dot --example figure2 --format dot
test_that "figure 2 as SVG" matches figure2.svg --example figure2 --format svg
test_that "a forest, step by step" matches forest-steps.txt --example forest --steps
test_that "a forest as SVG" matches forest.svg --example forest -f svg
test_that "two steps as SVG" matches steps.svg -s -f svg 'a b c d e' 'a b c d'
test_that "two steps as DOT" matches steps.dot -s -f dot 'a b c d e' 'a b c d'
test_that "the help" matches help.txt --help
test_that "windows as text" matches window.txt --example figure2 --window 6 --kept 1
test_that "windows as SVG" matches window.svg --example figure2 --window 6 --kept 1 --rows 2 -f svg
test_that "pages as text" matches pages.txt --example figure2 --page-size 3
test_that "pages as SVG" matches pages.svg --example figure2 --page-size 16 -f svg
test_that "a tree of tokens as text" matches tree.txt --tree 0,0,1,2 --sinks \
    'a b c d e n0 n1 n2 n3 n4'
test_that "a tree of tokens as SVG" matches tree.svg --tree 0,0,1 -f svg \
    'a b c d e f g h' 'a b c d e'

# ---- What they must say, whatever they look like ----

# The rows of the table under the heading that begins with $1, without blanks at the ends.
rows() { awk -v heading="$1" \
    'on && NF == 0 { exit } on { $1 = $1; print } index($0, heading) == 1 { on = 1 }'; }

equals() {
    diff -u <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

figure2() { show --example figure2; }

# The papers: (C0/C1/C2, 0, 2), (C3, 0, 0), (C4/C6, 1, 1), (C5/C7, 2, 2), there with inclusive ends.
figure2_plan() {
    equals "[C0, C1, C2] x [0,3) [C3] x [0,1) [C4, C6] x [1,2) [C5, C7] x [2,3)" \
        "$(figure2 | rows "The papers' form")" &&
        equals "C begin end n_tokens position
C0 0 3 4 0
C1 0 3 4 4
C2 0 3 4 8" "$(figure2 | rows "Plan, shared")" &&
        equals "S n_tokens n_chunks n_shared chunk
0 16 4 3 C0 C1 C2 C3
1 18 5 3 C0 C1 C2 C4 C6
2 18 5 3 C0 C1 C2 C5 C7" "$(figure2 | rows "Plan, sequence")"
}

figure2_paths() {
    equals "S name tokens shared path
0 ann 16 12 C0 C1 C2 | C3
1 bob 18 12 C0 C1 C2 | C4 C6
2 eve 18 12 C0 C1 C2 | C5 C7" "$(figure2 | rows Sequences)"
}

figure2_phases() {
    equals "range; each query keeps a partial result (m, n, o)
C0 × q0 q1 q2
C1 × q0 q1 q2
C2 × q0 q1 q2
(C), with the chunks that it alone has, and divides: out = o / n
q0: (C0) ⊕ (C1) ⊕ (C2) ⊕ C3
q1: (C0) ⊕ (C1) ⊕ (C2) ⊕ C4 ⊕ C6
q2: (C0) ⊕ (C1) ⊕ (C2) ⊕ C5 ⊕ C7" "$(figure2 | rows 'Phase 1'; figure2 | rows 'Phase 2')"
}

# 12 shared tokens and 4 + 6 + 6 own ones; 3 x 12 + 16 without sharing.
figure2_memory() {
    equals "chunks used 8 of 64
their slots 32, 4 unused
tokens stored 28
without sharing 52, in 14 chunks
saved 24 (46.2 %), and 6 chunks" "$(figure2 | rows Memory)"
}

# Figure 1: questions of 2, 3 and 4 tokens in chunks of 6.
figure1_unused() {
    # 4 + 3 + 2, and the heading's.
    equals "10" "$(show --example figure1 | grep -o '░░' | wc -l)"
}

# PLAN-5, PLAN-6: only the append that finds room in each last chunk keeps the plan.
figure2_rebuilds() {
    equals "rebuilt rebuilt rebuilt rebuilt kept" \
        "$(figure2 | rows Steps | tr '\n' ' ' | grep -oE 'plan (rebuilt|kept)' |
            cut -d' ' -f2 | xargs)"
}

# The example's own script, read back, draws the same; --chunk-size goes before what it says.
source_is_the_example() {
    show --example "$1" --source >example.script && show --script example.script >from-file &&
        show --example "$1" >from-name && show - <example.script >from-stdin &&
        diff -u <(sed 1d from-name) <(sed 1d from-file) &&
        diff -u <(sed 1d from-name) <(sed 1d from-stdin) &&
        show --chunk-size 16 --script example.script | head -1 | grep -q 'c = 16, '
}

# TREE-9, TREE-14, TREE-16 and a prompt that is the beginning of another, as the drawing has them.
prompts_share() {
    equals "0 p1 6 4 C0 C1 | C2
1 p3 4 4 C0 C1
2 p2 5 2 C0 | C3 C4
3 p4 0 0 (empty: no chunk)" \
        "$(show -c 2 'a b c d e f' 'a b x y z' 'a b c d' '' | rows Sequences | sed 1d)"
}

tenants_do_not_share() {
    equals "0 x 2 2 C0
1 y 2 2 C0
2 z 2 0 C1 (tenant t)" \
        "$(printf 'chunk-size 2\njoin x: a b\njoin y: a b\njoin z in t: a b\n' | show - |
            rows Sequences | sed 1d)"
}

# POOL-3: leave releases a's own chunk C1 and the next join takes it before the unused C3.
released_first() {
    equals "0 b 4 2 C0 | C2
1 c 4 2 C0 | C1" \
        "$(printf 'chunk-size 2\njoin a: p q 1 2\njoin b: p q 3 4\nleave a\njoin c: p q 5 6\n' |
            show - | rows Sequences | sed 1d)"
}

# A long list of chunks is told by its ends, and only where the numbers follow each other.
long_lists() {
    show -c 1 'a b c d e f' 'a b c d' 'a x' >drawing &&
        grep -q 'becomes S0, 6 tokens; takes C0 .. C5; plan rebuilt' drawing &&
        grep -q 'becomes S1, 4 tokens; shares C0 C1 C2 C3; plan rebuilt' drawing &&
        grep -q 'becomes S2, 2 tokens; shares C0; takes C6; plan rebuilt' drawing
}

test_that "figure 2: the plan's ranges" figure2_plan
test_that "figure 2: the paths" figure2_paths
test_that "figure 2: what the phases do" figure2_phases
test_that "figure 2: the memory" figure2_memory
test_that "figure 2: when the plan is rebuilt" figure2_rebuilds
test_that "figure 1: the unused slots" figure1_unused
for example in figure1 figure2 forest; do
    test_that "$example --source is its script" source_is_the_example $example
done
test_that "prompts share their full chunks" prompts_share
test_that "tenants share with themselves only" tenants_do_not_share
test_that "long lists of chunks" long_lists
test_that "a released chunk is taken first" released_first

# ---- Formats ----

cat >hostile.script <<'END'
# what XML and DOT give a meaning to, and wide and combining letters
chunk-size 3
join a&b: <b> & "quoted" 'single' ]]> \ {x} &amp; -- äöü 日本語
join <i>: <b> & "quoted" %s %n
append <i> <!--
END

svg_is_faithful() {
    show --script hostile.script --steps --format svg >hostile.svg && python3 - <<'END'
import sys, xml.etree.ElementTree as xml
texts = ["".join(node.itertext()) for node in xml.parse("hostile.svg").iter()
         if node.tag.endswith("}text")]
words = ['<b>', '&', '"quoted"', "'single'", ']]>', '\\', '{x}', '&amp;', '--', 'äöü',
         '日本語', '%s', '%n', '<!--', 'a&b', '<i>']
missing = [word for word in words if word not in texts]
sys.exit(f"not in the picture: {missing}" if missing else 0)
END
}

# Each HTML-like label is well-formed and has the words; graphviz, where it is, draws them all.
dot_is_faithful() {
    show --script hostile.script --steps --format dot >hostile.dot && python3 - <<'END' || return 1
import re, sys, xml.etree.ElementTree as xml
text = open("hostile.dot").read()
labels = re.findall(r"label=<(.*?)>(?:\]|);\n", text, re.S)
cells = [node.text for label in labels for node in xml.fromstring(f"<l>{label}</l>").iter("TD")]
words = ['<b>', '&', '"quoted"', "'single'", ']]>', '\\', '{x}', '&amp;', '--', 'äöü',
         '%s', '<!--']
missing = [word for word in words if word not in cells]
assert len(re.findall(r"^digraph ", text, re.M)) == 4, "three steps and the end"
sys.exit(f"not in the graph: {missing}" if missing else 0)
END
    ! type dot >dot.path 2>&1 || { dot -Tsvg hostile.dot >hostile-dot.svg 2>dot.errors &&
        [ ! -s dot.errors ]; }
}

# Nothing passes the width, long words, long paths and many sequences included.
text_is_narrow() {
    {
        echo "chunk-size 16"
        for i in $(seq 12); do
            echo "join sequence-$i: $(seq -f 'a-rather-long-word-%g' 48 | xargs) end-$i 日本語"
        done
        echo "join wide: $(printf '日本語 %.0s' $(seq 32))"
    } >wide.script
    for width in 60 80 132; do
        { show --script wide.script --width $width && show --example forest -s --width $width &&
            show --script wide.script --width $width --window 40 --kept 2 --ahead 3 --rows 5 &&
            show --script wide.script --width $width --page-size 5 &&
            show --script wide.script --width $width --tree "$(seq -s, 0 15)"
        } >wide.txt || return 1
        python3 - $width <<'END' || return 1
import sys, unicodedata
def columns(line): return sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line)
long = [line for line in open("wide.txt").read().split("\n") if columns(line) > int(sys.argv[1])]
sys.exit("\n".join(long) if long else 0)
END
    done
}

help_is_narrow() { show --help >help && ! grep -nE '.{81}' help; }

ascii_is_ascii() {
    ! { show --example forest --steps --ascii && show --example figure2 --window 3 --ascii &&
        show --example figure2 --page-size 3 --ascii; } |
        LC_ALL=C grep -n '[^ -~]'
}

test_that "SVG has each word as it is" svg_is_faithful
test_that "DOT has each word as it is" dot_is_faithful
test_that "text stays within its width" text_is_narrow
test_that "the help stays within 80 columns" help_is_narrow
test_that "--ascii is ASCII" ascii_is_ascii

# ---- JSON ----

schemas=python3
"$schemas" -c 'import jsonschema' 2>/dev/null || schemas=/usr/bin/python3
root=$(cd "$here/.." && pwd)

# json EXPRESSION ARGUMENT...: the report, t, follows its schema, and the expression holds.
json() {
    local expression=$1
    shift
    show --format json "$@" >report.json && "$schemas" - "$expression" "$root" <<'END'
import json, sys
import jsonschema
t = json.load(open("report.json"))
schema = json.load(open(sys.argv[2] + "/spec/show-report.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(t)
for row in t["keys"]["rows"] if t["keys"] else []:
    ranges = row["shared"] + row["own"]
    assert row["n_seen"] == sum(r["end"] - r["begin"] for r in ranges), row
if not eval("(" + sys.argv[1] + ")"):
    sys.exit("false: " + sys.argv[1] + "\n" + json.dumps(t, indent=1))
END
}

if "$schemas" -c 'import jsonschema' 2>/dev/null; then
    test_that "JSON: without keys" json 't["keys"] is None and t["memory"] ==
        {"chunks": 8, "tokens": 28, "apart_chunks": 14, "apart_tokens": 52}' --example figure2
    test_that "JSON: tenants" json '[s["tenant"] for s in t["sequences"]].count("acme") == 1' \
        --example forest
    test_that "JSON: a window" json '[r["n_seen"] for r in t["keys"]["rows"]] == [7, 7, 7] and
        t["keys"]["left_out"] == [1] and t["keys"]["chunk_first"] ==
        [{"chunk": 0, "rows": [0, 1, 2]}, {"chunk": 1, "rows": []}, {"chunk": 2, "rows": [0]}]' \
        --example figure2 --window 6 --kept 1
    test_that "JSON: none ahead is an answer, too" json '[r["n_seen"] for r in t["keys"]["rows"]] ==
        [16, 18, 18]' --example figure2 --ahead 0
    test_that "JSON: a tree of tokens" json 't["keys"]["parents"] == [None, 0, 0, 1, 2] and
        t["keys"]["mask"][4] == [1, 0, 1, 0, 1] and t["keys"]["rows"][4]["own"] ==
        [{"chunk": 3, "begin": 1, "end": 2}, {"chunk": 3, "begin": 3, "end": 4}]' \
        --example figure2 --tree 0,0,1,2
    test_that "JSON: pages" json 't["pages"]["block_table"] == [[0, -1], [1, 2], [3, 4]] and
        t["pages"]["seq_lens"] == [16, 18, 18] and t["pages"]["indptr"] == [0, 1, 3, 5] and
        t["pages"]["indices"] == [0, 1, 2, 3, 4] and t["pages"]["last_page_len"] == [16, 2, 2] and
        t["pages"]["stored"] == 52 and t["keys"] is None' --example figure2 --page-size 16
    test_that "JSON: hostile words" json 't["chunks"][0]["tokens"][2] == "\"quoted\""' \
        --script hostile.script
fi

# ---- Bad input ----

# refused MESSAGE ARGUMENT...: exit status 2, the message on the standard error.
refused() {
    local message=$1 status
    shift
    show "$@" >out 2>err <input
    status=$?
    cat err
    [ $status -eq 2 ] && grep -qF -- "$message" err
}

# bad_script NAME MESSAGE LINE...: the script of these lines is refused with FILE:LINE: message.
bad_script() {
    local name=$1 message=$2
    shift 2
    printf '%b\n' "$@" >bad.script
    test_that "$name" refused "bad.script:$message" --script bad.script
}

: >input
bad_script "unknown sequence" "2: no sequence is called 'b'; there are: a" "join a: x" "append b y"
bad_script "a sequence that left" "3: no sequence is called 'a'; there are: none" "join a: x" \
    "leave a" "leave a"
bad_script "name taken at join" "3: a sequence is already called 'a'" "join a: x" "" "join a: y"
bad_script "name taken at fork" "2: a sequence is already called 'a'" "join a: x" "fork a as a"
remedy="the tree is unchanged; give --capacity"
bad_script "pool full at join" \
    "4: the pool is full: this needs 2 chunks, and 1 of 2 are free; $remedy 3 or more" \
    "chunk-size 1" "capacity 2" "join a: x" "join b: x y z"
bad_script "pool full at append" "4: the pool is full: this needs 1 chunk, and 0 of 2 are free" \
    "chunk-size 1" "capacity 2" "join a: x y" "append a z"
bad_script "pool full at append-all" \
    "5: the pool is full: this needs 2 chunks, and 1 of 3 are free" "capacity 3" "chunk-size 1" \
    "join a: x" "join b: y" "append-all z"
bad_script "pool full at fork" \
    "3: the pool is full: this needs 1 chunk, and 0 of 1 are free; $remedy 2 or more" \
    "capacity 1" "join a: x" "fork a as b"
bad_script "unknown operation" "1: unknown operation 'jion'" "jion a: x"
bad_script "join without a colon" "1: no colon" "join a x"
bad_script "join without a name" "1: write: join NAME" "join : x"
bad_script "join with two names" "1: write: join NAME" "join a b: x"
bad_script "append without a word" "2: a name or a word is missing" "join a: x" "append a"
bad_script "append-all without a word" "2: no word" "join a: x" "append-all"
bad_script "append-all with two words for three" "4: append-all has 2 words for 3 sequences" \
    "join a: x" "join b: x" "join c: x" "append-all y z"
bad_script "leave without a name" "2: one name is needed" "join a: x" "leave"
bad_script "fork without a new name" "2: two names are needed" "join a: x" "fork a"
bad_script "a size after an operation" "2: a size must come before" "join a: x" "chunk-size 2"
bad_script "a chunk size of 0" "1: one number from 1 to 64" "chunk-size 0"
bad_script "a chunk size of 65" "1: one number from 1 to 64" "chunk-size 65"
bad_script "a capacity that is no number" "1: one number from 1 to 1024" "capacity 8x"
bad_script "not UTF-8" "2: not UTF-8" "join a: x" 'join b: \0377'
bad_script "an overlong form" "1: not UTF-8" 'join b: \0300\0257'
bad_script "a surrogate" "1: not UTF-8" 'join b: \0355\0240\0200'
bad_script "no character" "1: not UTF-8" 'join b: \0357\0277\0277'
bad_script "a control character" "1: not UTF-8" 'join b: \0033[31m'

printf 'join a: \0\n' >zero.script
head -c 1048577 /dev/zero | tr '\0' '#' >large.script
test_that "a byte of 0" refused "zero.script: not text" --script zero.script
test_that "a script above 1 MiB" refused "large.script: more than 1 MiB" --script large.script
test_that "no such script" refused "no/such: " --script no/such
test_that "a directory as script" refused ".: " --script .
test_that "a prompt too long for the pool" refused "prompt 2: the pool is full" -c 1 -p 2 'a b' 'c'
printf 'join a: x\nnonsense\n' >input
test_that "a bad line on standard input" refused "<stdin>:2: unknown operation" -
test_that "nothing to draw" refused "nothing to draw"
test_that "two sources" refused "only one of prompts" --example figure2 'a prompt'
test_that "unknown example" refused \
    "no example is called 'figure3'; there are figure1, figure2, forest" --example figure3
test_that "unknown format" refused "--format needs text, dot, svg or json, not 'png'" -f png a
test_that "unknown option" refused "unrecognized option '--colour'" --colour a
test_that "unknown short option" refused "invalid option -- 'x'" -sx a
test_that "option without its value" refused "option '--width' requires an argument" a --width
test_that "chunk size out of range" refused \
    "--chunk-size needs a whole number from 1 to 64, not '0'" -c 0 a
test_that "capacity out of range" refused \
    "--capacity needs a whole number from 1 to 1024, not '1025'" -p 1025 a
test_that "width out of range" refused "--width needs a whole number from 60 to 1000, not '59'" \
    -w 59 a
test_that "a window of no key" refused \
    "--window needs a whole number from 1 to 4194304, not '0'" --window 0 a
test_that "kept tokens without a window" refused "--kept needs --window W" --kept 1 a
test_that "a tree and a mask" refused "give only one of --tree and --mask" --tree 0 --mask m a
test_that "a tree and rows" refused "--tree says how many rows there are; leave --rows out" \
    --tree 0 --rows 2 a
test_that "a parent behind its child" refused \
    "--tree: node 2 has the parent 2; a parent comes before its children, so give 0 or 1" \
    --tree 0,2 'a b c'
test_that "no list of parents" refused "--tree: '0;1' is no list of parents" --tree '0;1' 'a b c'
test_that "a tree of more tokens than there are" refused \
    "--tree is about the last 3 tokens of each sequence, but S1 (p2) has 2; append 1 more to it" \
    --tree 0,0 'a b c' 'd e'
test_that "pages of no key" refused "--page-size needs a whole number from 1 to 256, not '0'" \
    --page-size 0 a
test_that "pages as DOT" refused "--format dot draws the tree alone; to see keys or pages give" \
    --page-size 2 -f dot a
test_that "keys as DOT" refused "--format dot draws the tree alone" --window 2 -f dot a
test_that "steps as JSON" refused "--format json has only the end" --steps -f json a
test_that "columns of JSON" refused "--width is of text, which --format json has not" \
    -w 70 -f json a
test_that "ASCII of DOT" refused "--ascii is of text, which --format dot has not" --ascii -f dot a
test_that "a source and more" refused "--source prints the script of the --example as it is" \
    --source --example figure2 --window 3
test_that "a mask and a script on standard input" refused \
    "--mask and the script are both the standard input" --mask - --script -
printf '11\n1\n' >input
test_that "a short row on standard input" refused "<stdin>:2: 1 mark, but" --mask - 'a b'
test_that "a window given twice" refused "--window is given twice, as '3' and as '5'" \
    --window 3 --window 5 a

# A mask on the standard input is the same as in a file.
mask_from_input() {
    printf '1.1\n.11\n' >two.mask
    show --example figure2 --mask two.mask >file &&
        show --example figure2 --mask - <two.mask >same && diff file same
}
test_that "a mask on the standard input" mask_from_input

# What the help shows runs; where graphviz is missing, cat stands for it.
examples_run() {
    mkdir -p bin examples
    ln -sf "$command" bin/chunkproof
    type dot >dot.path 2>&1 || { printf '#!/bin/sh\ncat\n' >bin/dot && chmod +x bin/dot; }
    show --help | sed -n '/^examples:/,/^$/s/^  //p' >examples.sh
    [ "$(wc -l <examples.sh)" -ge 9 ] && (cd examples &&
        PATH=$work/bin:$PATH bash -eu -o pipefail ../examples.sh >../said) &&
        [ -s examples/figure2.svg ] && [ -s examples/forest.pdf ] && [ -s examples/my.script ] &&
        [ "$(grep -c '^Tree: ' said)" -ge 6 ]
}
test_that "the examples of the help run" examples_run

# A script that fails has no JSON and no picture: the message and the status say it.
nothing_but_the_message() {
    printf 'capacity 1\nchunk-size 1\njoin a: x\njoin b: y\n' >full.script
    for format in json svg; do
        show --script full.script --format $format >out 2>err
        [ $? -eq 2 ] && [ ! -s out ] && grep -q '^full.script:4: the pool is full' err || return 1
    done
    show --help | tr -s '\n ' ' ' | grep -qF 'svg and json print nothing'
}
test_that "a script that fails as JSON" nothing_but_the_message

test_that "no such mask" refused "no/such: " --mask no/such a
test_that "a directory as mask" refused ".: " --mask . a
printf '# a mask\n11\n1\n' >short.mask
test_that "a short row" refused \
    "short.mask:3: 1 mark, but the rows before it have 2; give each row as many" \
    --mask short.mask 'a b'
printf '1y\n' >strange.mask
test_that "no mark" refused "strange.mask:1: 'y' is no mark; write 1 or x" --mask strange.mask 'a b'
printf '1\0\n' >zero.mask
test_that "a byte of 0 in a mask" refused "zero.mask:1: byte 0 is no mark" --mask zero.mask 'a b'
printf '# nothing\n' >empty.mask
test_that "a mask without a row" refused "empty.mask: no row; write a line" --mask empty.mask 'a b'
printf '%s\n' "$(printf '1%.0s' $(seq 1025))" >large.mask
test_that "a mask that is too wide" refused "large.mask:1: more than 64 rows" --mask large.mask 'a'
test_that "--source without an example" refused "--source needs --example" --source a

# TREE-13: what was right is drawn, with --steps and without; a picture that would lack its end is
# not begun.
drawn_up_to_the_error() {
    printf 'capacity 1\nchunk-size 1\njoin a: x\njoin b: y\n' >full.script
    show --script full.script --steps >steps 2>err
    [ $? -eq 2 ] && grep -q 'C0 .*S0 a' steps && grep -q '^full.script:4: the pool is full' err ||
        return 1
    show --script full.script >end 2>err
    [ $? -eq 2 ] && grep -q 'C0 .*S0 a' end && grep -q '^full.script:4: the pool is full' err ||
        return 1
    show --script full.script --steps --format svg >picture 2>err
    [ $? -eq 2 ] && [ ! -s picture ]
}

# A file's name draws one word, which may be meant; it is said how the file is read.
a_file_may_be_meant() {
    printf 'join a: x\n' >meant.script
    show meant.script 2>err | grep -q meant.script &&
        grep -qF -- '--script meant.script reads the file' err || return 1
    show meant-script >out 2>err && [ ! -s err ]
}

test_that "a file's name as a prompt" a_file_may_be_meant

unwritable() {
    show --example figure2 2>err >/dev/full
    [ $? -eq 2 ] && grep -q 'cannot be written: No space' err
}

test_that "steps before an error are drawn" drawn_up_to_the_error
[ ! -e /dev/full ] || test_that "output that cannot be written" unwritable

echo "1..$n"
[ $failed -eq 0 ]
