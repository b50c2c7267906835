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

	encoded [][]byte // the resources as JSON: a page is known to be full before more of them are read
	size    int      // of these
}

// MaxBytes is how many bytes of resources a page has: it ends with the one that brings it there. With the last resource and
// the escapes that AWS Lambda adds, an answer stays below the 6 MB that it can be there.
const MaxBytes = 1 << 20

// Add appends a resource, and reports whether the page is full.
func (p *Page[R]) Add(r R) (full bool, err error) {
	if p.Data == nil {
		p.Data, p.encoded = make([]R, 0, DefaultLimit), make([][]byte, 0, DefaultLimit)
	}
	p.Data = append(p.Data, r)
	encoded, err := encode(&p.Data[len(p.Data)-1]) // by its address, for else it would be copied once more
	p.encoded = append(p.encoded, encoded)
	p.size += len(encoded)
	return p.size >= MaxBytes, err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Render renders the resources of a page again, which have changed since they were added.
func (p *Page[R]) Render() (err error) {
	for i := range p.Data {
		if p.encoded[i], err = encode(&p.Data[i]); err != nil {
			return err
		}
	}
	return nil
}

// JSON returns a page as JSON, with what show returns of each resource.
func (p *Page[R]) JSON(show func(resource []byte) ([]byte, error)) ([]byte, error) {
	shown := make([][]byte, len(p.encoded))
	for i, resource := range p.encoded {
		var err error
		if shown[i], err = show(resource); err != nil {
			return nil, err
		}
	}
	links, err := encode(p.Links)
	return slices.Concat([]byte(`{"data":[`), bytes.Join(shown, []byte{','}), []byte(`],"links":`), links, []byte("}\n")), err
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
