package servertest

import (
	"encoding/json"
	"net/http"
	"path"
	"sync"
)

// Get returns what the user is shown at the path.
func Get[T any](s *Server, user, path string) (shown T) {
	s.t.Helper()
	s.Want(http.StatusOK, &shown, user, http.MethodGet, path, nil)
	return shown
}

// List returns what the user is shown of the list at the path: one page, or nothing when the list is empty.
func List[T any](s *Server, user, path string) []T {
	s.t.Helper()
	list, _ := Page[T](s, user, path)
	return list
}

// Page is List for a test that goes on at the next page.
func Page[T any](s *Server, user, path string) (list []T, next string) {
	s.t.Helper()
	var page struct {
		Data  []T
		Links struct{ Next string }
	}
	switch a := s.Do(user, http.MethodGet, path, nil); a.Status {
	case http.StatusNoContent:
	case http.StatusOK:
		if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Data) == 0 {
			s.t.Fatalf("GET %s as %q: %v\n%s", path, user, err, a.Body)
		}
	default:
		s.t.Fatalf("GET %s as %q: status %d\n%s", path, user, a.Status, a.Body)
	}
	return page.Data, page.Links.Next
}

// IDs returns the ids of what the user is shown of the list at the path.
func (s *Server) IDs(user, path string) (ids []string) {
	s.t.Helper()
	for _, r := range List[struct{ ID string }](s, user, path) {
		ids = append(ids, r.ID)
	}
	return ids
}

// ID is the id at the end of the path of a resource.
func ID(resource string) string { return path.Base(resource) }

// Concurrently sends n requests at once, and counts the answers by status.
func Concurrently(n int, send func(i int) Answer) map[int]int {
	statuses := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { statuses[i] = send(i).Status })
	}
	all.Wait()
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	return counts
}
