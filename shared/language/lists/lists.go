// Package lists has functions on lists that package slices lacks.
package lists

import (
	"slices"
	"strings"
)

// Map returns the results of f for all elements, in their order. It never returns nil.
func Map[T, U any](all []T, f func(T) U) []U {
	mapped := make([]U, len(all))
	for i, v := range all {
		mapped[i] = f(v)
	}
	return mapped
}

// Without returns the elements that are not among the others, in their order. It does not change all.
func Without[T comparable](all []T, others ...T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return slices.Contains(others, v) })
}

// Or joins names for a sentence: "a", "a or b", "a, b or c".
func Or[T ~string](all []T) string { return join(all, "or") }

// And joins names for a sentence: "a", "a and b", "a, b and c".
func And[T ~string](all []T) string { return join(all, "and") }

func join[T ~string](all []T, word string) string {
	names := Map(all, func(name T) string { return string(name) })
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}
