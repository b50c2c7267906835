// Package casefold makes texts that differ in case alone equal, by the full case folding of Unicode (CaseFolding.txt): ß is ss.
// The table is goldmark's, which pages link anyway; package cases of x/text folds alike, and links the tables of all languages
// with it: 0.2 MB and 0.2 ms of each function's start.
package casefold

import "github.com/yuin/goldmark/util"

// Fold returns the text as it is compared.
func Fold(text string) string { return string(util.DoFullUnicodeCaseFolding([]byte(text))) }
