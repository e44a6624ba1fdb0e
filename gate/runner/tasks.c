/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/runner/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/children.h"

struct task {
    pid_t process, parent, group;
    unsigned long threads;
    int counts;
};

struct tasks {
    struct task *all;
    size_t n, room;
};

/* The number behind the slash of "0.1 0.2 0.3 1/345 678". */
unsigned long run_tasks(void) {
    char line[128] = "";
    FILE *file = fopen("/proc/loadavg", "r");
    if (file != NULL) {
        (void)!fgets(line, sizeof line, file);
        (void)fclose(file);
    }
    const char *slash = strchr(line, '/');
    return slash != NULL ? strtoul(slash + 1, NULL, 10) : 0;
}

/* Fields behind the name in "123 (its name) S 1 123 ...". The name may have brackets and blanks. */
enum { STATE, PARENT, GROUP, THREADS = 17, FIELDS };

static int read_task(const char *number, struct task *task) {
    char name[300], text[1024];
    (void)snprintf(name, sizeof name, "/proc/%.20s/stat", number);
    FILE *stat = fopen(name, "r");
    size_t length = stat != NULL ? fread(text, 1, sizeof text - 1, stat) : 0;
    if (stat != NULL) {
        (void)fclose(stat);
    }
    text[length] = '\0';
    char *rest = strrchr(text, ')');
    long field[FIELDS] = {0};
    int n = 0;
    for (rest = rest != NULL ? rest + 1 : text + length; *rest == ' ' && n < FIELDS; n++) {
        field[n] = n != STATE ? strtol(rest, &rest, 10) : 0;
        rest += n == STATE ? strcspn(rest + 1, " ") + 1 : 0;
    }
    *task = (struct task){(pid_t)strtol(number, NULL, 10), (pid_t)field[PARENT],
                          (pid_t)field[GROUP], (unsigned long)field[THREADS], 0};
    return n == FIELDS ? 0 : -1;
}

/* 0, or -1: there is no memory. */
static int add(struct tasks *tasks, const struct task *task) {
    if (tasks->n == tasks->room) {
        size_t room = 2 * tasks->room + 1024;
        struct task *all = realloc(tasks->all, room * sizeof *all);
        if (all == NULL) {
            return -1;
        }
        tasks->all = all;
        tasks->room = room;
    }
    tasks->all[tasks->n++] = *task;
    return 0;
}

static int by_number(const void *left, const void *right) {
    const struct task *a = left, *b = right;
    return (a->process > b->process) - (a->process < b->process);
}

static void list(struct tasks *tasks) {
    DIR *processes = opendir("/proc");
    const struct dirent *one;
    struct task task;
    int more = 1;
    while (processes != NULL && more && (one = readdir(processes)) != NULL) {
        if (isdigit((unsigned char)one->d_name[0]) && read_task(one->d_name, &task) == 0) {
            more = add(tasks, &task) == 0;
        }
    }
    if (processes != NULL) {
        (void)closedir(processes);
    }
    if (tasks->n > 0) {
        qsort(tasks->all, tasks->n, sizeof *tasks->all, by_number);
    }
}

static int is_first(const struct task *task, pid_t process) {
    return task->process == process || task->group == process ||
           (task->parent == getpid() && !children_is_own(task->process));
}

/* Its parent counts. */
static int is_next(const struct tasks *tasks, const struct task *task) {
    const struct task wanted = {.process = task->parent};
    const struct task *parent =
        bsearch(&wanted, tasks->all, tasks->n, sizeof *tasks->all, by_number);
    return parent != NULL && parent->counts;
}

/* From parents to children, until no more come: mostly in two rounds, as children have the higher
 * numbers. */
unsigned long run_tasks_of(pid_t process) {
    struct tasks tasks = {NULL, 0, 0};
    unsigned long sum = 0;
    list(&tasks);
    for (size_t found = 1; found > 0;) {
        found = 0;
        for (size_t i = 0; i < tasks.n; i++) {
            struct task *task = &tasks.all[i];
            if (!task->counts && (is_first(task, process) || is_next(&tasks, task))) {
                task->counts = 1;
                sum += task->threads;
                found++;
            }
        }
    }
    free(tasks.all);
    return sum;
}
