/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a shared object that needs a function that does not exist. */
int nobody_has_this(void);

extern int (*const needs)(void);

int (*const needs)(void) = nobody_has_this;
