package page

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"assay/shared/problem"
)

// Links are the addresses of a page and of the next one.
type Links struct {
	Self string `json:"self" format:"uri-reference" doc:"this page" example:"/v1/tasks?limit=50"`
	Next string `json:"next,omitempty" format:"uri-reference" doc:"the next page; absent on the last one"`
}

// Page is one page of a list.
type Page[R any] struct {
	Data  []R   `json:"data"`
	Links Links `json:"links"`
	// Cursor is the id of the first resource of the next page, or empty. For a sorted list More says whether there is one.
	Cursor string `json:"-"`
	More   bool   `json:"-"`

	rendered *rendered
}

// MaxBytes is how many bytes of resources a page has: it ends with the one that brings it there. With the last resource and
// the escapes that AWS Lambda adds, an answer stays below the 6 MB that it can be there.
const MaxBytes = 1 << 20

// rendered is the JSON of a page up to its links, which is made as resources are added: a page is known to be full before
// more of them are read.
type rendered struct {
	json    bytes.Buffer
	encoder *json.Encoder
	ends    []int // of the resources, each with the comma behind it
}

const (
	pageStart    = `{"data":[`
	ordinaryPage = 16 << 10 // bytes
)

func newRendered() *rendered {
	r := new(rendered)
	r.json.Grow(ordinaryPage)
	r.json.WriteString(pageStart)
	r.encoder = json.NewEncoder(&r.json)
	r.encoder.SetEscapeHTML(false)
	return r
}

// Add appends a resource, and reports whether the page is full.
func (p *Page[R]) Add(r R) (full bool, err error) {
	if p.rendered == nil {
		p.rendered = newRendered()
		p.Data, p.rendered.ends = make([]R, 0, DefaultLimit), make([]int, 0, DefaultLimit)
	}
	all := p.rendered
	p.Data = append(p.Data, r)
	if err := all.encoder.Encode(&p.Data[len(p.Data)-1]); err != nil { // by its address, for else it would be copied once more
		return false, err
	}
	end := all.json.Len()
	all.json.Bytes()[end-1] = ',' // instead of a line feed
	all.ends = append(all.ends, end)
	return end >= MaxBytes, nil
}

// Render renders the resources of a page again, which have changed since they were added.
func (p *Page[R]) Render() error {
	all := p.Data
	p.Data, p.rendered = nil, nil
	for _, r := range all {
		if _, err := p.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// JSON returns a page that has resources as JSON. When there is a change, it returns what is shown of each resource.
func (p *Page[R]) JSON(change func(resource []byte) ([]byte, error)) ([]byte, error) {
	all := p.rendered
	if change != nil {
		all = newRendered()
		start := len(pageStart)
		for _, end := range p.rendered.ends {
			resource, err := change(p.rendered.json.Bytes()[start : end-1])
			if err != nil {
				return nil, err
			}
			all.json.Write(append(resource, ','))
			start = end
		}
	}
	all.json.Truncate(all.json.Len() - 1)
	all.json.WriteString(`],"links":`)
	if err := all.encoder.Encode(p.Links); err != nil {
		return nil, err
	}
	all.json.Truncate(all.json.Len() - 1)
	all.json.WriteString("}\n")
	return all.json.Bytes(), nil
}

// Of returns the page of all that r asks for, in the order of all, for lists that are part of the program. id returns the cursor
// of a resource.
func Of[R any](r Request, all []R, id func(R) string) (p Page[R], err error) {
	if r.Cursor != "" {
		first := slices.IndexFunc(all, func(one R) bool { return id(one) == r.Cursor })
		if first < 0 {
			return p, problem.InvalidCursor.New("The cursor names nothing in this list. Follow links.next as it was given, or start without a " +
				"cursor.")
		}
		all = all[first:]
	}
	for i, one := range all {
		full, err := p.Add(one)
		if err != nil {
			return p, err
		}
		if rest := all[i+1:]; len(rest) > 0 && (full || i+1 == r.Limit) {
			p.Cursor = id(rest[0])
			break
		}
	}
	return p, nil
}

// Link fills in the links of a page that was asked for at path with r.
func (p *Page[R]) Link(path, rawQuery string, r Request) {
	p.Links.Self = path
	if rawQuery != "" {
		p.Links.Self += "?" + rawQuery
	}
	next := url.Values{}
	maps.Copy(next, r.query)
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
