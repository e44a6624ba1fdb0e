#!/bin/sh
# sweep.sh CASES [SEED] [NAME...]: compiles each variant, with warnings as errors, and drives it.
cases=${1:-150} seed=${2:-1}; shift; shift
cd "$(dirname "$0")"
for f in ${*:-$(ls *.c | grep -v drive.c)}; do
    n=$(basename "$f" .c)
    for m in 0 $(grep -o 'MISTAKE [!=]= [0-9]*' "$n.c" | awk '$3 > 0 {print $3}' | sort -nu); do
        gcc -std=c11 -O2 -Wall -Wextra -Werror -I../include -shared -fPIC -DMISTAKE=$m \
            -o /tmp/m_so/$n.$m.so "$n.c" -lm || { echo "$n $m DOES NOT COMPILE"; continue; }
        printf '%s %s: ' "$n" "$m"
        timeout 60 /tmp/m_drive /tmp/m_so/$n.$m.so "$cases" "$seed" || { r=$?; [ $r = 1 ] || echo "exit $r"; }
    done
done
