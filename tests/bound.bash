# SPDX-License-Identifier: Apache-2.0
# For tests of `chunkproof bound`, after cli.bash:
#   . tests/bound.bash

# right ARGUMENT...: status 0, nothing on standard error, at most 100 columns, no spaces at line
# ends.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; return 1; }
    ! awk 'length > 100 { print "too long: " $0; n++ } END { exit n == 0 }' "$work/out" || return 1
    ! grep -n ' $' "$work/out"
}

# says TEXT ARGUMENT...: the output, as one line, has TEXT.
says() {
    local text
    text=$(tr -s '\n ' ' ' <<<"$1")
    text=${text% }
    shift
    right "$@" || return 1
    tr -s '\n ' ' ' <"$work/out" | grep -qF -- "$text" || { echo "no '$text' in:";
        cat "$work/out"; return 1; }
}

# json EXPRESSION ARGUMENT...: the output is JSON, and a Python expression over it, `t`, is true.
json() {
    local expression=$1
    shift
    status 0 --json "$@" || return 1
    python3 - "$work/out" "$expression" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
share = {p["part"]: p["share"] for p in t["parts"]}
lost = {p["part"]: p["lost"] for p in t["parts"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=1))
PYTHON
}

# both ARGUMENT... -- ARGUMENT...: two reports as JSON, $work/first and $work/out.
both() {
    local first=()
    while [ "$1" != -- ]; do
        first+=("$1")
        shift
    done
    shift
    status 0 --json "${first[@]}" && cp "$work/out" "$work/first" && status 0 --json "$@"
}

# same ARGUMENT... -- ARGUMENT...: both print the same figures as JSON.
same() {
    both "$@" || return 1
    python3 - "$work/first" "$work/out" <<'PYTHON'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
keys = ("bound", "size", "ulps", "rms", "parts", "left", "lse_bound", "claimed")
different = [key for key in keys if a[key] != b[key]]
if different:
    sys.exit(f"different: {different}")
PYTHON
}
different() { ! same "$@" || { echo "the figures are the same"; return 1; }; }

# more WHAT ARGUMENT... -- ARGUMENT...: the first class has a larger bound, of the same numbers.
more() {
    ok "$1 costs more" more_than "${@:2}"
}
more_than() {
    both "$@" || return 1
    python3 - "$work/first" "$work/out" <<'PYTHON'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
if not (a["claimed"] == b["claimed"] > 0 and a["bound"]["largest"] > b["bound"]["largest"]):
    sys.exit(f"not more: {a['bound']} and {b['bound']}")
PYTHON
}

saved() { status 0 --keys 40 --head-dim 6 --seed 3 --save "$work/case.json" &&
    [ -s "$work/case.json" ]; }
standard_input() { "$chunkproof" bound --case - <"$work/example.json" >"$work/out" 2>&1 &&
    grep -q '^row  *2 keys' "$work/out"; }

# no_nan ARGUMENT...: neither text nor JSON has a number that is none.
no_nan() {
    right "$@" && ! grep -wiE -- '-?(nan|inf)' "$work/out" || return 1
    status 0 --json "$@" && ! grep -wiE -- '-?(nan|inf|infinity)' "$work/out"
}

# silent TEXT ARGUMENT...: the output has no such text.
silent() {
    local text=$1
    shift
    right "$@" || return 1
    ! tr -s '\n ' ' ' <"$work/out" | grep -F -- "$text"
}

# The members of the structures that cp_tolerance() takes, in the header as in the report.
declared() {
    status 0 --json "$@" || return 1
    python3 - "$work/out" include/chunkproof/tolerance.h <<'PYTHON'
import json, re, sys
declared = json.load(open(sys.argv[1]))["declared"]
header = open(sys.argv[2]).read()
def members(name):
    body = re.search(r"\nstruct " + name + r" \{(.*?)\n\};", header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return {n.split()[-1] for line in body.split(";") for n in line.split(",") if n.strip()}
a = declared["arithmetic"]
for name, found in (("cp_arithmetic", a), ("cp_counts", declared["counts"]),
                    ("cp_score_arithmetic", a["score"]),
                    ("cp_format", a["weights"]), ("cp_format", a["output"])):
    numbers = all(isinstance(x, (int, float, dict)) for x in found.values())
    if members(name) != set(found) or not numbers:
        sys.exit(f"{name}: {sorted(members(name))} but {found}")
PYTHON
}

not_saved() (
    chunkproof=$(realpath "$chunkproof") && cd "$work" && wrong "--save -" --keys 4 --save - &&
        [ ! -e ./- ]
)

# A file that is full half-way: what was saved before is still there.
kept() {
    local found=0
    "$chunkproof" bound --keys 4 --head-dim 2 --save "$work/kept.json" >"$work/out" || return 1
    cp "$work/kept.json" "$work/before.json"
    (trap '' XFSZ; ulimit -f 8; exec "$chunkproof" bound --keys 5000 --head-dim 64 \
        --save "$work/kept.json" >"$work/out" 2>"$work/err") || found=$?
    [ "$found" = 2 ] && grep -q 'kept.json: cannot be written: File too large' "$work/err" &&
        cmp "$work/before.json" "$work/kept.json" && [ -z "$(find "$work" -name 'kept.json?*')" ]
}

full_disk() {
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    local found=0
    "$chunkproof" bound --keys 8 "$@" >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q "output cannot be written: No space left" "$work/err"
}

# file NAME TEXT: a file of this content in the working directory.
file() { printf '%s\n' "$2" >"$work/$1"; }
