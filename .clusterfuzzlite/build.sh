#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
exec bash fuzz/oss-fuzz/build.sh
