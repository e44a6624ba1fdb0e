/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_MODULES_COMMAND_H
#define CHUNKPROOF_CLI_MODULES_COMMAND_H

/* `chunkproof simulate --modules`: argv[0] is "--modules". Returns a status of cli/base/command.h,
 * and leaves it to the caller to see whether the standard output could be written. */
int modules_command(int argc, char **argv);

#endif
