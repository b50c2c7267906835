// Package lists has functions on lists that package slices lacks.
package lists

import "slices"

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
