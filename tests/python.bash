# SPDX-License-Identifier: Apache-2.0
# For tests that are a program of Python's unittest:
#   . tests/python.bash; python_tests FILE.py
# One line for each test, and all that the program printed where one failed, with its status. Lines
# of the program that begin with `# ` are passed on.
python_tests() {
    local log status
    log=$(mktemp)
    python3 "$1" --verbose >"$log" 2>&1
    status=$?
    # A test's name, perhaps a line that says what it shows, and how it ended.
    awk '/^test_[a-z0-9_]* / { name = $1 } /^# /
         /\.\.\. .*ok$|^ok$/ && name { print "ok - " name; name = "" }
         /\.\.\. .*skipped / && name {
             sub(/.*skipped /, ""); print "ok - " name " # SKIP " $0; name = "" }
         /\.\.\. (FAIL|ERROR)$|^(FAIL|ERROR)$/ && name { print "not ok - " name; name = "" }' "$log"
    [ $status = 0 ] || cat "$log"
    rm -f "$log"
    return $status
}
