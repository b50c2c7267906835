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

	encoded *bytes.Buffer // the resources as JSON, one after the other: a page is known to be full before more of them are read
	ends    []int         // of each of these
}

// MaxBytes is how many bytes of resources a page has: it ends with the one that brings it there. With the last resource and
// the escapes that AWS Lambda adds, an answer stays below the 6 MB that it can be there.
const MaxBytes = 1 << 20

// Cache keeps encoded resources by comparable keys, some or all of them.
type Cache interface {
	Get(key any) (text []byte, found bool)
	Add(key any, text []byte) (evicted bool)
}

// Add appends a resource, and reports whether the page is full.
func (p *Page[R]) Add(r R) (full bool, err error) { return p.AddCached(r, nil, nil) }

// AddCached is Add for a resource whose JSON is the same whenever it is added with an equal key, so that the cache may keep it. With the
// key nil it is Add.
func (p *Page[R]) AddCached(r R, key any, cache Cache) (full bool, err error) {
	if p.Data == nil {
		p.Data = make([]R, 0, DefaultLimit)
		p.encoded = buffers.Get().(*bytes.Buffer)
		p.ends = make([]int, 0, DefaultLimit)
		p.encoded.Reset()
	}
	p.Data = append(p.Data, r)
	err = p.encode(len(p.Data)-1, key, cache)
	return p.encoded.Len() >= MaxBytes, err
}

// maxCachedBytes is how long the JSON of one resource may be that a cache is given.
const maxCachedBytes = 4 << 10

// buffers are those of pages that were answered: most of the memory that a page takes.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encode appends the resource with the number to those that are encoded. Without a key there is no cache.
func (p *Page[R]) encode(i int, key any, cache Cache) (err error) {
	from, found := p.encoded.Len(), false
	var text []byte
	if key != nil {
		text, found = cache.Get(key)
	}
	if found {
		p.encoded.Write(text)
	} else {
		err = writeJSON(p.encoded, &p.Data[i]) // by its address, for else it would be copied once more
		if text = p.encoded.Bytes()[from:]; key != nil && err == nil && len(text) <= maxCachedBytes {
			cache.Add(key, bytes.Clone(text))
		}
	}
	p.ends = append(p.ends[:i], p.encoded.Len())
	return err
}

// writeJSON appends v as JSON.
func writeJSON(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	b.Truncate(len(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return err
}

// Render renders the resources of a page again, which have changed since they were added.
func (p *Page[R]) Render() (err error) {
	p.encoded.Reset()
	for i := range p.Data {
		if err := p.encode(i, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// JSON returns a page as JSON, with what show returns of each resource. It can be called once.
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
