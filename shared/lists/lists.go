// Package lists maps lists to lists, which package slices of the standard library does not.
package lists

// Map returns what f makes of each element, in their order.
func Map[T, U any](all []T, f func(T) U) []U {
	mapped := make([]U, len(all))
	for i, v := range all {
		mapped[i] = f(v)
	}
	return mapped
}
