package page_test

import (
	"slices"
	"testing"

	"assay/shared/page"
	"assay/shared/problem"
)

// Pages that follow their cursors have everything once, in order.
func TestOf_PagesHaveEverythingOnce(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	self := func(s string) string { return s }
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for r := (page.Request{Limit: limit}); ; {
			p, err := page.Of(r, all, self)
			if err != nil || len(p.Data) > limit {
				t.Fatalf("limit %d from %q: %v, %v", limit, r.Cursor, p.Data, err)
			}
			got = append(got, p.Data...)
			if r.Cursor = p.Cursor; r.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d have %v", limit, got)
		}
	}
	if _, err := page.Of(page.Request{Limit: 1, Cursor: "x"}, all, self); !problem.InvalidCursor.Is(err) {
		t.Errorf("a cursor that names nothing: %v", err)
	}
}
