/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-commands of `chunkproof`. Each gets its own name as argv[0] and returns the exit status
 * of the command. */
#ifndef CHUNKPROOF_CLI_BASE_COMMAND_H
#define CHUNKPROOF_CLI_BASE_COMMAND_H

#define EXIT_RIGHT       0   /* all was checked that was asked for, and is right */
#define EXIT_FINDING     1   /* a check found something wrong */
#define EXIT_BAD_USE     2   /* bad use, bad input, or a system error: no verdict */
#define EXIT_INTERRUPTED 130 /* Ctrl-C: what was found so far has been printed */

int cp_command_trace(int argc, char **argv);
int cp_command_simulate(int argc, char **argv);
int cp_command_bench(int argc, char **argv);
int cp_command_show(int argc, char **argv);
int cp_command_tables(int argc, char **argv);
int cp_command_bound(int argc, char **argv);
int cp_command_prompt(int argc, char **argv);
int cp_command_model(int argc, char **argv);
int cp_command_gate(int argc, char **argv);
int cp_command_replay(int argc, char **argv);
int cp_command_explain(int argc, char **argv);

#endif
