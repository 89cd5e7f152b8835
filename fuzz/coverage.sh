#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh - which lines of the readers and joins the tests and the fuzz corpus reach.
#
#     fuzz/coverage.sh [--missed] [FOLDER...]
#
# Builds with clang's coverage in ${STEPSCOPE_COVERAGE_DIR:-build/coverage}, runs the unit tests
# about files, and each fuzz target over its seeds, its regressions and the corpus of fuzz/run.sh.
# Prints lines by file for src/FOLDER, which is read, trace and job unless
# others are named; with --missed the lines themselves that nothing reached.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# Debian's meson needs Debian's Python: shims must not stand before them.
export PATH=/usr/bin:$PATH
missed=
if [[ ${1:-} == --missed ]]; then
	missed=1
	shift
fi
folders=("$@")
((${#folders[@]})) || folders=(read trace job)
dir=$(realpath -m "${STEPSCOPE_COVERAGE_DIR:-build/coverage}")
corpus=$(realpath -m "${STEPSCOPE_FUZZ_DIR:-build/fuzz}")/corpus
flags='-fprofile-instr-generate -fcoverage-mapping'
mapfile -t targets < <(sed -n "s/^  '\(fuzz_[a-z_]*\)',\$/\1/p" fuzz/meson.build)

[[ -f $dir/build.ninja ]] ||
	CC=clang meson setup "$dir" --buildtype=debugoptimized -Dfuzz=enabled -Db_lundef=false \
		-Dc_args="$flags" -Dc_link_args="$flags" >/dev/null
tests=(tests/test_{read,trace,job,snapshot,api})
ninja -C "$dir" "${tests[@]}" "${targets[@]/#/fuzz/}" >/dev/null

rm -rf "$dir/profiles" "$dir/seeds"
mkdir -p "$dir/profiles"
# one file a program, to which all its runs are added
export LLVM_PROFILE_FILE=$dir/profiles/%m.profraw
python3 fuzz/make_corpus.py "$dir/seeds"
for program in "${tests[@]}"; do
	for test in $("$dir/$program"); do
		[[ $test == api_pack* ]] || "$dir/$program" "$test" >/dev/null 2>&1 ||
			echo "failed: $test"
	done
done
for target in "${targets[@]}"; do
	inputs=("$dir/seeds/$target" "fuzz/regressions/$target")
	[[ ! -d $corpus/$target ]] || inputs+=("$corpus/$target")
	"$dir/fuzz/$target" -runs=0 "${inputs[@]}" >/dev/null 2>&1 || echo "failed: $target"
done

llvm-profdata merge -sparse "$dir"/profiles/*.profraw -o "$dir/all.profdata"
objects=("$dir/fuzz/${targets[0]}")
for program in "${tests[@]}" "${targets[@]/#/fuzz/}"; do
	objects+=(-object "$dir/$program")
done
llvm-cov export -format=lcov -instr-profile="$dir/all.profdata" "${objects[@]}" |
	python3 fuzz/covered_lines.py "$missed" "${folders[@]/#/src/}"
