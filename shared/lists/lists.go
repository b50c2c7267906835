// Package lists maps lists to lists, which package slices of the standard library does not.
package lists

import "slices"

// Map returns what f makes of each element, in their order.
func Map[T, U any](all []T, f func(T) U) []U {
	mapped := make([]U, len(all))
	for i, v := range all {
		mapped[i] = f(v)
	}
	return mapped
}

// Without returns those of the elements that are not among the others, in their order.
func Without[T comparable](all []T, others ...T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return slices.Contains(others, v) })
}
