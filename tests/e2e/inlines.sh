#!/bin/sh
# SPDX-License-Identifier: MIT
# Inlined functions and lines of programs in several forms of debug information: each instruction's
# are compared with what addr2line tells, and a recorded stack shows them.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
table=$OUT/tests/tools/inlinetable
case $table in /*) ;; *) table=$PWD/$table ;; esac
if ! command -v addr2line >/dev/null || ! command -v gcc >/dev/null || [ ! -x "$table" ]; then
	skip 'inlined functions are told' 'needs binutils, gcc and the tools of make programs'
	exit 0
fi

cat >"$work/a.c" <<'END'
#include <stdint.h>
volatile uint64_t sink;
static inline __attribute__((always_inline)) void inner(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i * n;
}
static inline __attribute__((always_inline)) void middle(uint64_t n)
{
	inner(n);
	if (n & 1)
		inner(n + 1);
}
__attribute__((noinline)) uint64_t outer(uint64_t n)
{
	middle(n);
	sink++;
	return sink;
}
__attribute__((cold, noinline)) static void rarely(uint64_t n)
{
	inner(n);
}
int main(void)
{
	for (int i = 0; i < 40; i++)
		if (outer(10000000) == 1)
			rarely(sink);
	return 0;
}
END
cat >"$work/b.cc" <<'END'
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
namespace shop {
template <typename T> struct shelf {
	std::vector<T> things;
	void put(T thing) { things.push_back(std::move(thing)); }
	T first() const { return *std::min_element(things.begin(), things.end()); }
};
}
int main(int argc, char **argv)
{
	shop::shelf<std::string> shelf;
	std::map<std::string, int> counts;

	for (int i = 0; i < argc; i++)
		shelf.put(argv[i]);
	std::sort(shelf.things.begin(), shelf.things.end(),
		  [](const std::string &a, const std::string &b) { return b < a; });
	for (auto &thing : shelf.things)
		counts[thing]++;
	try {
		return counts.at(shelf.first()) == 2;
	} catch (const std::out_of_range &) {
		return 3;
	}
}
END

# What is told of an address on one line, between tabs, with files by their base names.
one_line()
{
	sed -E 's/ \(discriminator [0-9]+\)//; s|^/?.*/([^/:]+:[0-9?]+)$|\1|; s/:\?$/:0/' |
		awk '/^0x/ { if (NR > 1) print line; line = $0; sub(/^0x0*/, "", line); next }
			{ line = line "\t" $0 } END { print line }'
}

# compare NAME: every instruction. addr2line has no names for functions without a linkage name, nor
# inlined functions of split debug information, where LLVM's has: the same as one of the two is
# right. The outermost function is left out: they name it by the symbol table, as dwell does elsewhere.
# Code without debug information has a name there only.
compare()
{
	objdump -d --no-show-raw-insn "$work/$1" | sed -nE 's/^ +([0-9a-f]+):.*/0x\1/p' >"$work/pcs"
	addr2line -a -i -f -e "$work/$1" <"$work/pcs" | one_line >"$work/theirs"
	llvm-addr2line -a -i -f -e "$work/$1" <"$work/pcs" 2>"$work/llvm.err" |
		one_line >"$work/llvm"
	"$table" "$work/$1" <"$work/pcs" | one_line >"$work/ours"
	paste -d '|' "$work/ours" "$work/theirs" "$work/llvm" | awk -F '|' '
		function chain(text, word, n, i, made) {
			n = split(text, word, "\t")
			for (i = 2; i <= n; i++)
				made = made "\t" (i == n - 1 ? "" : word[i])
			return made
		}
		$1 ~ /\t\?\?\t\?\?:0$/ && $2 !~ /\t[^\t?]+:[1-9][0-9]*$/ { next }
		{ all++; ours = chain($1); inlined += split($1, word, "\t") > 3 }
		ours == chain($2) { same++; next }
		ours == chain($3) { llvm++; next }
		shown++ < 3 { print "# ours  " $1 "\n# other " $2 "\n# llvm  " $3 }
		END { print all + 0, inlined + 0, same + 0, llvm + 0 }' >"$work/result"
	grep '^#' "$work/result"
	# shellcheck disable=SC2046 # four numbers
	set -- "$1" $(tail -n 1 "$work/result")
	echo "# $1: $2 instructions, $3 with inlined functions, $4 as addr2line, $5 more as LLVM"
	claim "$1: every instruction has the functions and lines that it should have" \
		[ "$2" -gt 30 -a "$3" -gt 10 -a "$(($4 + $5))" = "$2" ]
}

for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null; then
		skip "$compiler's debug information" "no $compiler here"
		continue
	fi
	for version in 4 5; do
		for source in a.c b.cc; do
			if [ $source = b.cc ] && ! command -v llvm-addr2line >/dev/null; then
				skip "$compiler's C++, DWARF $version" 'no llvm-addr2line here'
				continue
			fi
			name=$compiler$version-${source%.*}
			$compiler -O2 -g -gdwarf-$version -o "$work/$name" "$work/$source" -lstdc++ \
				2>"$work/cc.err" && compare "$name"
		done
	done
	for version in 4 5; do
		command -v llvm-addr2line >/dev/null || break
		name=$compiler$version-split
		(cd "$work" && $compiler -O2 -g -gdwarf-$version -gsplit-dwarf -c -o "$name.o" b.cc &&
			$compiler -o "$name" "$name.o" -lstdc++) 2>"$work/cc.err" && compare "$name"
	done
done
gcc -O2 -g -flto -o "$work/lto" "$work/a.c" && compare lto
gcc -O2 -g -gz=zlib -o "$work/packed" "$work/a.c" && compare packed
if command -v dwz >/dev/null; then
	cp "$work/gcc4-b" "$work/dwz" && cp "$work/gcc4-a" "$work/dwz2"
	(cd "$work" && dwz -m shared.dwz dwz dwz2) 2>"$work/cc.err" && compare dwz
fi

# A recording shows them, also when the debug information is in a file of its own.
if ! perf --version >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
	skip 'a recorded stack shows inlined functions' 'privilege: needs perf and root'
	exit 0
fi
cp "$work/gcc5-a" "$work/prog"
perf record -q -g -e cpu-clock -o "$work/data" -- "$work/prog" >"$work/perf.out" 2>&1 </dev/null
dwell fold --on -U "$work/data"
claim 'fold shows inlined functions' grep -q ';outer;middle_\[i\];inner_\[i\] ' "$work/out"
dwell fold --on -U --no-inline "$work/data"
claim '--no-inline does not' sh -c "grep -q ';outer ' '$work/out' && ! grep -q '_\[i\]' '$work/out'"
dwell fold --on -U --srcline "$work/data"
claim '--srcline adds the places' \
	grep -q ';outer (a.c:1[67]);middle (a.c:10)_\[i\];inner (a.c:[56])_\[i\] ' "$work/out"
dwell report "$work/data"
claim 'report shows them' grep -q 'inner < middle < outer' "$work/out"
dwell dump --symbols "$work/data"
claim 'dump shows them' grep -q 'middle_\[i\]' "$work/out"
objcopy --only-keep-debug "$work/prog" "$work/prog.debug"
strip "$work/prog" && objcopy --add-gnu-debuglink="$work/prog.debug" "$work/prog"
dwell fold --on -U "$work/data"
claim 'from the debug file of a stripped program' \
	grep -q ';outer;middle_\[i\];inner_\[i\] ' "$work/out"
