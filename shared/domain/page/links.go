package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"assay/shared/language/problem"
)

// Links holds the addresses of a page and of the next one.
type Links struct {
	Self string `json:"self" format:"uri-reference" doc:"this page" example:"/v1/tasks?limit=50"`
	Next string `json:"next,omitempty" format:"uri-reference" doc:"the next page; absent on the last one"`
}

// Page is one page of a list.
type Page[R any] struct {
	Data  []R   `json:"data"`
	Links Links `json:"links"`
	// Cursor is the id of the first resource of the next page; empty: there is none. In a sorted list, More says whether there is one.
	Cursor string `json:"-"`
	More   bool   `json:"-"`

	encoded *bytes.Buffer // JSON of the resources, one after the other; encoding them early tells when the page is full
	ends    []int         // ends of the resources in encoded
}

// MaxBytes is the length in bytes at which a page is full. The last resource may exceed it. With that resource and the escapes that AWS
// Lambda adds, an answer remains below Lambda's limit of 6 MB.
const MaxBytes = 1 << 20

// Add appends a resource, and reports whether the page is full.
func (p *Page[R]) Add(r R) (full bool, err error) {
	if p.Data == nil {
		p.Data = make([]R, 0, DefaultLimit)
		p.encoded = buffers.Get().(*bytes.Buffer)
		p.ends = make([]int, 0, DefaultLimit)
		p.encoded.Reset()
	}
	p.Data = append(p.Data, r)
	err = p.encode(len(p.Data) - 1)
	return p.encoded.Len() >= MaxBytes, err
}

// buffers reuses the buffers of answered pages, which are most of a page's memory.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encode appends the JSON of resource i to encoded.
func (p *Page[R]) encode(i int) error {
	err := writeJSON(p.encoded, &p.Data[i]) // the pointer avoids a copy
	p.ends = append(p.ends[:i], p.encoded.Len())
	return err
}

// appender is a resource that encodes itself faster than encoding/json does.
type appender interface {
	// AppendJSON appends the JSON of the resource.
	AppendJSON(b []byte) ([]byte, error)
}

// writeJSON appends v as JSON.
func writeJSON(b *bytes.Buffer, v any) error {
	if a, ok := v.(appender); ok {
		text, err := a.AppendJSON(b.AvailableBuffer())
		b.Write(text)
		return err
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	b.Truncate(len(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return err
}

// Render encodes the resources of the page again, after they have changed.
func (p *Page[R]) Render() (err error) {
	p.encoded.Reset()
	for i := range p.Data {
		if err := p.encode(i); err != nil {
			return err
		}
	}
	return nil
}

// JSON returns the page as JSON. It passes the JSON of each resource through show. It may be called once.
func (p *Page[R]) JSON(show func(resource []byte) ([]byte, error)) ([]byte, error) {
	if p.encoded == nil {
		p.encoded = new(bytes.Buffer)
	}
	resources := p.encoded.Bytes()
	links := new(bytes.Buffer)
	err := writeJSON(links, p.Links)
	body := append(make([]byte, 0, len(resources)+len(p.ends)+links.Len()+len(`{"data":[],"links":}`+"\n")), `{"data":[`...)
	start := 0
	for i, end := range p.ends {
		shown, failed := show(resources[start:end])
		err = cmp.Or(err, failed)
		if i > 0 {
			body = append(body, ',')
		}
		body, start = append(body, shown...), end
	}
	buffers.Put(p.encoded)
	body = append(append(body, `],"links":`...), links.Bytes()...)
	return append(body, "}\n"...), err
}

// Of returns the requested page of a list in the program, in the order of all. id returns the cursor of a resource.
func Of[R any](r Request, all []R, id func(R) string) (p Page[R], err error) {
	if r.Cursor != "" {
		first := slices.IndexFunc(all, func(one R) bool { return id(one) == r.Cursor })
		if first < 0 {
			return p, problem.InvalidCursor.New("The cursor names nothing in this list. Follow {links.next} as it was given, or start without a " +
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

// Link fills in the links of the page that request r at the path returned.
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
