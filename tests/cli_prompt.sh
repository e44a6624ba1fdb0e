#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof prompt` from outside: reports against files of tests/golden/prompt, what they must say
# whatever they look like, bad use and bad files.
#   tests/cli_prompt.sh [COMMAND]    GOLDEN=write makes the files anew
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/cli.bash" prompt "${1:-}"
golden=$root/tests/golden/prompt
schemas=/usr/bin/python3 # Debian's, which python3-jsonschema is for
python3 -c 'import jsonschema' 2>/dev/null && schemas=python3
cd "$golden" || exit 1

# right ARGUMENT...: status 0, nothing on standard error, no blanks at line ends.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; return 1; }
    ! grep -n ' $' "$work/out"
}

# matches FILE ARGUMENT...
matches() {
    local file=$1
    shift
    right "$@" || return 1
    [ "${GOLDEN:-}" != write ] || sed '/"version"/s/: "[^"]*"/: "-"/' "$work/out" >"$file"
    diff -u "$file" <(sed '/"version"/s/: "[^"]*"/: "-"/' "$work/out")
}

travel=(travel.xml miami.xml tokyo.xml)
tutor=(--template chatml tutor.xml ada.xml)
ok "the chapter's example" matches travel.txt "${travel[@]}"
ok "all elements, with a template" matches tutor.txt "${tutor[@]}"
ok "all elements in bytes" matches tutor-bytes.txt -t bytes --template llama2 tutor.xml ada.xml
ok "JSON" matches travel.json --json "${travel[@]}"
ok "a picture" matches travel.svg --svg "${travel[@]}"
ok "a picture of nested modules" matches tutor.svg --svg --tokens bytes "${tutor[@]}"
ok "the help" matches help.txt --help

# ---- What they must say ----

narrow() { right "$@" && ! LC_ALL=C.UTF-8 grep -nE '.{101}' "$work/out"; }
ok "text has at most 100 columns" narrow -t bytes "${tutor[@]}"

# PML-6, MOD-1: the positions of the table that begins spec/modules.md.
positions() {
    right travel.xml || return 1
    diff <(sed -n '/^    part  kind/,/^$/p' "$root/spec/modules.md" | grep -E '^    [0-9]' |
               grep -oE '[0-9]+ \.\. [0-9]+') \
         <(sed -n '/^  part  kind/,/^$/p' "$work/out" | grep -E '^ *[0-9]' |
               grep -oE '[0-9]+ \.\. [0-9]+')
}
ok "the positions of spec/modules.md" positions

# The files that spec/pml.md shows: two schemas, each with a prompt.
shown() {
    awk -v to="$work/shown" '/^    </ && !on { on = 1; n++ } !/^    / { on = 0 }
        on { print substr($0, 5) >(to n ".xml") }' "$root/spec/pml.md"
    [ -s "$work/shown4.xml" ] && [ ! -e "$work/shown5.xml" ] || { echo "not four"; return 1; }
    right "$work/shown1.xml" "$work/shown2.xml" && right "$work/shown3.xml" "$work/shown4.xml" &&
        has ': 29 tokens, 24 from the cache, 5 computed'
}
ok "the examples of spec/pml.md are accepted" shown

# PML-11: room for 10 tokens, and not for 11.
room() {
    local text
    text=$(grep -o '<prompt schema="travel"><miami/>1 .*</prompt>' "$root/spec/pml.md")
    echo "$text" >"$work/ten.xml"
    echo "${text/10</10 11<}" >"$work/eleven.xml"
    right travel.xml "$work/ten.xml" "$work/eleven.xml" &&
        has '43 .. 52                10  computed  new text behind miami: 1 2' &&
        has '59 .. 69                11  computed  new text behind miami (no room there): 1 2'
}
ok "the example of PML-11" room

# PML-11: where the prompt uses nothing behind an import, room has no end.
endless() {
    cat >"$work/short.xml" <<'XML'
<schema name="s">x<module name="a">a</module><module name="b">b b b</module></schema>
XML
    grep -qF "$(cat "$work/short.xml")" "$root/spec/pml.md" || { echo "no such example"; return 1; }
    echo '<prompt schema="s"><a/>1 2 3 4 5</prompt>' >"$work/free.xml"
    echo '<prompt schema="s">1 2 3<a/>1 2 3 4 5</prompt>' >"$work/taken.xml"
    right "$work/short.xml" "$work/free.xml" "$work/taken.xml" &&
        has '2 .. 6                   5  computed  new text behind a: 1 2 3 4 5' &&
        has '5 .. 7                   3  computed  new text: 1 2 3' &&
        has '8 .. 12                  5  computed  new text behind a (no room there): 1 2 3 4 5'
}
ok "the example of room without an end" endless

# What somebody predicted who had spec/pml.md alone; and that another prediction is noticed.
predicted() { "$root/tests/prompt_reader.py" "$chunkproof"; }
ok "schemas of a reader of spec/pml.md, as he predicted" predicted
mispredicted() {
    cp -r reader "$work/reader"
    sed -i "$1" "$work/reader/predicted.txt"
    ! "$root/tests/prompt_reader.py" "$chunkproof" "$work/reader" >"$work/out" || return 1
    rm -r "$work/reader"
    has "$2"
}
ok "another text than predicted" mispredicted '/^  text/s/93 behind/94 behind/' \
    'prompt legal.1:  text 79 .. 93 behind limitation'
ok "another error than predicted" mispredicted 's/^error novel 4:3/error novel 4:4/' \
    'error novel 4:3'

# The same of PML-8: roles of prompts, and those of schemas.
roles_predicted() { "$root/tests/prompt_roles.py" "$chunkproof"; }
ok "roles as a reader of spec/pml.md predicted them" roles_predicted
roles_mispredicted() {
    sed "$1" roles.jsonl >"$work/roles.jsonl"
    ! "$root/tests/prompt_roles.py" "$chunkproof" "$work/roles.jsonl" >"$work/out" && has "$2"
}
ok "another place than predicted" roles_mispredicted '1s/xml:1:24/xml:1:25/' \
    'case 01: prompt.xml:1:24, '
ok "no error where one is predicted" roles_mispredicted '1s/"prompt.xml:1:24"/null/' \
    'case 01: prompt.xml:1:24, and predicted is None'

# json EXPRESSION ARGUMENT...: the report, t, follows its schema, and the expression holds.
json() {
    local expression=$1
    shift
    right --json "$@" && "$schemas" - "$work/out" "$expression" "$root" <<'PYTHON'
import json, sys
import jsonschema
t = json.load(open(sys.argv[1]))
schema = json.load(open(sys.argv[3] + "/spec/prompt-report.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(t)
for prompt in t["prompts"]:
    end = 0
    for run in prompt["runs"]:
        assert run["begin"] >= end, run
        end = run["begin"] + run["size"]
    cached = sum(run["size"] for run in prompt["runs"] if run["from"] == "cache")
    new = sum(run["size"] for run in prompt["runs"] if run["from"] != "cache")
    assert (prompt["cached"], prompt["computed"]) == (cached, new), prompt
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=1))
PYTHON
}
if "$schemas" -c 'import jsonschema' 2>/dev/null; then
    ok "JSON: two prompts" json 'len(t["prompts"]) == 2 and t["prompts"][0]["computed"] == 6' \
        "${travel[@]}"
    ok "JSON: no prompt" json 't["prompts"] == []' travel.xml
    ok "JSON: a scaffold in the mask" \
        json '[(m["module"], m["scaffold"]) for m in t["prompts"][1]["mask"]] ==
              [(0, None), (2, 0), (6, 0)]' \
        "${travel[@]}"
    ok "JSON: white space that is kept" \
        json 'any(p.get("text") == "class Unit:\n    def move(self, x): ...\n"
                  for p in t["schema"]["parts"])' tutor.xml
    ok "JSON: equal words have equal numbers" \
        json '[t["schema"]["parts"][x]["tokens"] for x in (1, 3)] ==
              [[0, 1, 2, 3, 4], [5, 2, 6, 7]]' \
        "${travel[@]}"
else
    echo "ok - JSON # SKIP no jsonschema"
fi

is_xml() { right --svg "$@" && xmllint --noout --nonet "$work/out"; }
if command -v xmllint >/dev/null; then
    ok "a picture is XML" is_xml "${tutor[@]}"
fi

# MOD-3, on the example's files: a prompt with a scaffold and a union, and one without a scaffold.
# The picture has as many squares as the JSON has pairs of parts of which one sees the other.
squares() {
    local path
    for path in "$@"; do
        right --json travel.xml "$path" && mv "$work/out" "$work/json" &&
            right --svg travel.xml "$path" &&
            python3 - "$work/json" "$work/out" "$path" <<'PYTHON' || return 1
import json, sys
t = json.load(open(sys.argv[1]))
prompt, parts = t["prompts"][0], t["schema"]["parts"]
sees = {row["module"]: row["sees"] for row in prompt["mask"]}
part = [parts[run["part"]]["in"] if run["from"] == "cache" else None for run in prompt["runs"]]
wanted = sum(a is None or b in sees[a] for i, a in enumerate(part) for b in part[:i])
drawn = open(sys.argv[2]).read().split(f">{sys.argv[3]}</text>")[1].count('<rect class="sees"')
if wanted != drawn or drawn == 0:
    sys.exit(f"{sys.argv[3]}: {drawn} squares, and not {wanted}")
PYTHON
    done
}
ok "a picture has the squares of the JSON" squares miami.xml tokyo.xml
escaped() {
    cp miami.xml "$work/a<b&c.xml"
    right --svg travel.xml "$work/a<b&c.xml" && has '/a&lt;b&amp;c.xml</text>'
}
ok "a picture of a file whose name has marks of XML" escaped

# ---- Bad use ----

ok "no file" wrong 'name a schema' --json
ok "two formats" wrong 'only one of --json and --svg' --json --svg travel.xml
ok "an unknown template" wrong "template" --template mistral travel.xml
ok "unknown tokens" wrong "tokens" --tokens letters travel.xml
ok "a value is missing" wrong "option '--tokens' requires an argument" travel.xml --tokens
ok "a file that is not there" wrong 'none.xml: cannot be read: No such file' none.xml
ok "a file's name that steers a terminal" \
    wrong 'a\x1B[1m\xE2\x80\xAE.xml: cannot be read: No such file' $'a\e[1m\u202e.xml'
ok "a value that steers a terminal" wrong "not 'a\\x1B[1m'" --tokens $'a\e[1m' travel.xml
ok "a model's name that steers a terminal" wrong 'prompt: a\x1B[1m: No such' --model $'a\e[1m' \
    travel.xml
ok "a directory" wrong 'cannot be read: Is a directory' .
ok "a prompt that is not there" wrong 'none.xml: cannot be read' travel.xml none.xml

# ---- Bad files (PML-12) ----

printf '<prompt schema="travel">\n  <maimi/>\n</prompt>\n' >"$work/typo.xml"
printf '<prompt schema="travel"><miami/><tokyo/></prompt>\n' >"$work/both.xml"
ok "an error has its place" \
    wrong "$work/typo.xml:2:3: the schema has no module maimi. Did you mean <miami/>?" \
    travel.xml miami.xml "$work/typo.xml"
printf '<prompt schema="travel"><trip-plan><duration>3 days</duration></trip-plan></prompt>\n' \
    >"$work/element.xml"
ok "an argument that is written as an element" wrong '<trip-plan duration="...">' travel.xml \
    "$work/element.xml"
each() {
    wrong "typo.xml:2:3: " travel.xml "$work/typo.xml" "$work/both.xml" miami.xml &&
        says "both.xml:1:33: tokyo and miami" && [ "$(wc -l <"$work/err")" = 2 ]
}
ok "each file has one message" each
ok "the schema comes first" wrong 'the root is <prompt>. A schema' miami.xml travel.xml
ok "a prompt of another schema" wrong 'miami.xml:1:9: the prompt is of the schema "travel"' \
    tutor.xml miami.xml
{
    printf '<schema name="s">'
    printf '<union/>%.0s' {1..2001}
    printf '</schema>'
} >"$work/many.xml"
ok "a picture that is too large" wrong '--json has them' --svg "$work/many.xml"

full() {
    "$chunkproof" prompt "$@" >/dev/full 2>"$work/err"
    [ $? = 2 ] && says 'cannot be written: No space'
}
ok "text that cannot be written" full travel.xml
ok "JSON that cannot be written" full --json travel.xml
ok "a picture that cannot be written" full --svg travel.xml
exit $failed
