/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a shared object that has no kernel. */
extern const int not_a_kernel;

const int not_a_kernel = 1;
