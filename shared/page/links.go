package page

import (
	"net/url"
	"slices"
	"strconv"

	"assay/shared/problem"
)

// Links tell where a list stands and where it goes on.
type Links struct {
	Self string `json:"self" doc:"this page" example:"/v1/tasks?limit=50"`
	Next string `json:"next,omitempty" doc:"the next page; absent on the last one"`
}

// Page is one page of a list.
type Page[R any] struct {
	Data  []R   `json:"data" nullable:"false"`
	Links Links `json:"links"`
	// Cursor is the id of the first resource of the next page, or empty. For a sorted list More says whether there is one.
	Cursor string `json:"-"`
	More   bool   `json:"-"`
}

// Of is the page that r asks for of all there is, in its order, for lists that stand in the program. id returns what a
// cursor names a resource by.
func Of[R any](r Request, all []R, id func(R) string) (p Page[R], err error) {
	if r.Cursor != "" {
		first := slices.IndexFunc(all, func(one R) bool { return id(one) == r.Cursor })
		if first < 0 {
			return p, problem.InvalidCursor.New("The cursor names nothing in this list. Follow links.next as it was given, or start without a cursor.")
		}
		all = all[first:]
	}
	if len(all) > r.Limit {
		p.Cursor = id(all[r.Limit])
		all = all[:r.Limit]
	}
	p.Data = all
	return p, nil
}

// Link fills in the links of a page that was asked for at path with r.
func (p *Page[R]) Link(path, rawQuery string, r Request) {
	p.Links.Self = path
	if rawQuery != "" {
		p.Links.Self += "?" + rawQuery
	}
	next := url.Values{}
	for k, v := range r.query {
		next[k] = v
	}
	switch {
	case r.Sort != "" && p.More && r.Offset+len(p.Data) <= MaxOffset:
		next.Set("offset", strconv.Itoa(r.Offset+len(p.Data)))
	case r.Sort == "" && p.Cursor != "":
		next.Set("cursor", p.Cursor)
	default:
		return
	}
	p.Links.Next = path + "?" + next.Encode()
}
