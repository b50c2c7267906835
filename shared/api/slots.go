package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"assay/shared/access"
	"assay/shared/compute"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/records"

	lru "github.com/hashicorp/golang-lru/v2"
)

// memory is what callers share of the server's memory, and of its processors to read large bodies.
type memory struct{ listings, bodyChunks, decodings, answerChunks *compute.Pool }

func newMemory() memory {
	return memory{
		listings:     compute.NewPool(compute.Halved(allListings, userListings, listingWait)),
		bodyChunks:   compute.NewPool(compute.Halved(allBodyChunks, userBodyChunks, bodyChunkWait)),
		decodings:    compute.NewPool(compute.Halved(int64(runtime.GOMAXPROCS(0)), userDecodings, decodingWait)),
		answerChunks: compute.NewPool(compute.Halved(allAnswerChunks, userAnswerChunks, answerWait)),
	}
}

// chunkBytes is what large bodies and answers are counted in.
const chunkBytes = 64 << 10

// Lists, and the pages that show several resources, share memory and processors. One takes 8 MiB, about six times
// page.MaxBytes, while it is read and rendered: items, decoded records, what is shown, and its JSON. A caller has a share of
// them, and so have all callers without a login, so that a caller who asks for many keeps no other waiting.
const (
	allListings  = 8
	userListings = 4
	listingWait  = 5 * time.Second
)

// BeginListing waits for the memory of one more list, or of another answer to a GET that is as large; at most once for a call.
func (c *Call) BeginListing(ctx context.Context) error {
	if len(c.slots) > 0 {
		return nil
	}
	slot, err := c.acquire(ctx, c.server.memory.listings, 1,
		"Many lists are read at the moment. Try again in a second, and ask for few at the same time.")
	if err != nil {
		return err
	}
	c.slots = append(c.slots, slot)
	return nil
}

// acquire takes slots of the pool, or returns the problem with the detail.
func (c *Call) acquire(ctx context.Context, p *compute.Pool, slots int64, detail string) (*compute.Slot, error) {
	slot, err := p.Acquire(ctx, c.PoolCaller(), compute.Amount{Slots: slots})
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "%s", detail).After(time.Second)
	}
	return slot, nil
}

// PageOf is the page that the request asks for of the sources' records, the newest first: those that keep accepts (nil accepts
// all), each as show shows it.
func PageOf[R, V any, P records.Pointer[R]](ctx context.Context, c *Call, sources []records.Source, keep func(P) bool,
	show func(P) V) (p page.Page[V], err error) {
	selection := records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, selection, keep, func(r P) (bool, error) { return p.Add(show(r)) })
	return p, err
}

// PageFor is PageOf for records that the caller is shown as their roles allow, whose JSON is kept. keep must not change them.
func PageFor[R, V any, P interface {
	records.Pointer[R]
	seenByRoles[V]
}](ctx context.Context, c *Call, sources []records.Source, keep func(P) bool) (p page.Page[V], err error) {
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	selection := records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.ListShared(ctx, c.Store, selection, keep, func(r P, key any) (bool, error) {
		roles := rolesOf(r.Scope())
		if key != nil {
			key = shownRecord{key, roles}
		}
		return AddShown(&p, r.For(roles), key)
	})
	return p, err
}

// encoded has resources of pages as JSON: to encode them takes most of the time of a page.
var encoded, _ = lru.New[any, []byte](maxEncoded) // the size is positive

// maxEncoded is how many are kept, each of some KB with the record that it was encoded from.
const maxEncoded = 8192

// AddShown adds a resource to a page, whose JSON is kept and is the same whenever the key is; nil: it is not kept.
func AddShown[V any](p *page.Page[V], shown V, key any) (full bool, err error) {
	return p.AddCached(shown, key, encoded)
}

// shownRecord is what the JSON of a record in a list follows from.
type shownRecord struct {
	record any // key of one that does not change
	roles  access.Role
}

// seenByRoles is what callers are shown as their roles allow.
type seenByRoles[V any] interface {
	Target
	For(roles access.Role) V // depends on nothing else
}

// ShowFor shows what the caller's roles allow.
func ShowFor[V any, T seenByRoles[V]](ctx context.Context, c *Call, t T) (V, error) {
	roles, err := c.Roles(ctx, t.Scope())
	return t.For(roles), err
}

// The bytes of large bodies that are in memory at the same time are bounded, so that requests whose bodies arrive slowly, or
// all at once, cannot fill it. Every chunk beyond the first takes one of allBodyChunks when it has arrived, and gives it back when
// the answer begins: a connection that announces much and sends little takes what it sent.
const (
	allBodyChunks  = 16 * MaxBodyBytes / chunkBytes
	userBodyChunks = allBodyChunks / 4
	bodyChunkWait  = time.Second
)

// readAll reads a body to its end, as long as there is room for what arrives.
func (c *Call) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	size := int64(chunkBytes)
	if announced := c.request.ContentLength; announced >= 0 {
		size = min(size, announced)
	}
	var chunks [][]byte
	for {
		chunk := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err := io.CopyN(chunk, body, chunkBytes)
		chunks = append(chunks, chunk.Bytes())
		switch {
		case errors.Is(err, io.EOF) && len(chunks) == 1:
			return chunk.Bytes(), nil
		case errors.Is(err, io.EOF):
			return bytes.Join(chunks, nil), nil
		case err != nil:
			return nil, err
		}
		slot, err := c.acquire(ctx, c.server.memory.bodyChunks, 1,
			"Too many large bodies are on their way at the moment. Try again in a second, and send few at the same time.")
		if err != nil {
			return nil, err
		}
		c.slots = append(c.slots, slot)
	}
}

// A large body takes up to a tenth of a second of a processor to check and to decode. A caller has one at a time, and a process as many as
// it has processors.
const (
	userDecodings = 1
	decodingWait  = 10 * time.Second
)

// decode does what takes time in proportion to the bytes of a document; for a large one, in the caller's turn.
func (c *Call) decode(ctx context.Context, document []byte, do func() error) error {
	if len(document) <= chunkBytes {
		return do()
	}
	slot, err := c.acquire(ctx, c.server.memory.decodings, 1,
		"Many large bodies are read at the moment. Try again in a second, and send few at the same time.")
	if err != nil {
		return err
	}
	defer slot.Release()
	return do()
}

// The bytes of answers that are being received are bounded as well, so that callers who read slowly, or not at all, cannot fill the
// memory. An answer takes its whole chunks from the first byte on until the last one has left, or until the connection is given up. It
// waits for them no longer than a list of somebody else may wait behind it.
const (
	allAnswerChunks  = 128 << 20 / chunkBytes
	userAnswerChunks = allAnswerChunks / 4
	maxAnswerChunks  = userAnswerChunks / 2 // an answer that is larger counts as this many, which an address may have
	answerWait       = 100 * time.Millisecond
)

// acquireAnswer takes the memory of an answer while it is sent; nil: it needs none, because it is small, or is kept for all callers. The
// answer to a change is not refused, because the change was made; their rate is limited.
func (c *Call) acquireAnswer(ctx context.Context, a answer) (*compute.Slot, error) {
	chunks := min(len(a.body)/chunkBytes, maxAnswerChunks)
	if chunks == 0 || a.packed != nil || c.op.Changes() {
		return nil, nil
	}
	return c.acquire(ctx, c.server.memory.answerChunks, int64(chunks),
		"You have not received many large answers yet. Try again in a second, and ask for few at the same time.")
}
