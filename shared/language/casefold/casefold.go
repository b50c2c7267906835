// Package casefold makes texts equal that differ only in case. It uses Unicode's full case folding (CaseFolding.txt), which turns ß into
// ss. The table is goldmark's, which the pages need anyway. Package cases of x/text folds equally, but links the tables of all languages,
// which add 0.2 MB and 0.2 ms to the start of each function.
package casefold

import "github.com/yuin/goldmark/util"

// Fold returns the case folding of a text. Texts that differ only in case have equal foldings.
func Fold(text string) string { return string(util.DoFullUnicodeCaseFolding([]byte(text))) }
