package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// memory holds the pools that bound the server's memory, and the processor time for decoding large bodies.
type memory struct{ listings, bodyChunks, decodings, answerChunks *compute.Pool }

func newMemory() memory {
	return memory{
		listings:     compute.NewPool(compute.Halved(allListings, userListings, listingWait)),
		bodyChunks:   compute.NewPool(compute.Halved(allBodyChunks, userBodyChunks, bodyChunkWait)),
		decodings:    compute.NewPool(compute.Halved(int64(runtime.GOMAXPROCS(0)), userDecodings, decodingWait)),
		answerChunks: compute.NewPool(compute.Halved(allAnswerChunks, userAnswerChunks, answerWait)),
	}
}

// chunkBytes is the unit in which the pools count large bodies and answers.
const chunkBytes = 64 << 10

// Lists, pages that show several resources, and previews that count records take slots of one pool. One list takes about 8 MiB while it
// is read and rendered, six times page.MaxBytes: items, decoded records, resources and JSON. Each user has a share of the pool. All
// callers without a login together have one share. So a caller who requests many lists does not delay others.
const (
	allListings  = 8
	userListings = 4
	listingWait  = 5 * time.Second
)

// BeginListing waits for a slot for a list, or for the answer to another GET that is as large. A call takes at most one such slot.
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

// Counting runs do, which reads records for the effects of a preview, in a slot for a list. So a caller who asks for many previews does not
// delay others. A preview holds no other such slot.
func (c *Call) Counting(ctx context.Context, do func() error) error {
	slot, err := c.acquire(ctx, c.server.memory.listings, 1,
		"Many previews read records at the moment. Try again in a second, and ask for few at the same time.")
	if err != nil {
		return err
	}
	defer slot.Release()
	return do()
}

// acquire takes slots of the pool. If none become free in time, it returns a problem with the detail.
func (c *Call) acquire(ctx context.Context, p *compute.Pool, slots int64, detail string) (*compute.Slot, error) {
	slot, err := p.Acquire(ctx, c.PoolCaller(), compute.Amount{Slots: slots})
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "%s", detail).After(time.Second)
	}
	return slot, nil
}

// PageOf returns the requested page of the sources' records, the newest first. It contains the records that keep accepts, rendered by
// show. A nil keep accepts all records.
func PageOf[R, V any, P records.Pointer[R]](ctx context.Context, c *Call, sources []records.Source, keep func(P) bool,
	show func(P) V) (p page.Page[V], err error) {
	selection := records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, selection, keep, func(r P) (bool, error) { return p.Add(show(r)) })
	return p, err
}

// seenByRoles is a record whose rendering depends only on the caller's roles.
type seenByRoles[V any] interface {
	Target
	For(roles access.Role) V
}

// ShowFor renders a record for the caller's roles.
func ShowFor[V any, T seenByRoles[V]](ctx context.Context, c *Call, t T) (V, error) {
	roles, err := c.Roles(ctx, t.Scope())
	return t.For(roles), err
}

// The pool of body chunks bounds the memory of large bodies, so that requests whose bodies arrive slowly, or all at once, cannot exhaust
// it. The first chunk of a body is free. Each further chunk takes one slot after it has arrived, and releases it when the answer begins.
// So a connection that announces much and sends little takes only what it sent.
const (
	allBodyChunks  = 16 * MaxBodyBytes / chunkBytes
	userBodyChunks = allBodyChunks / 4
	bodyChunkWait  = time.Second
)

// readAll reads a body to its end. It takes slots for the chunks that have arrived.
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

// Checking and decoding a large body takes up to a tenth of a second of processor time. A caller decodes one large body at a time, and the
// process as many as it has processors.
const (
	userDecodings = 1
	decodingWait  = 10 * time.Second
)

// decode calls do, which takes time in proportion to the length of the document. A large document first waits for the caller's turn.
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

// The pool of answer chunks bounds the memory of large answers, so that callers who read slowly, or not at all, cannot exhaust it. An
// answer takes one slot for each whole chunk. It holds them from its first byte until the last one is sent or the connection is closed.
// The wait is short, because the waiting answer delays lists of other callers.
const (
	allAnswerChunks  = 128 << 20 / chunkBytes
	userAnswerChunks = allAnswerChunks / 4
	maxAnswerChunks  = userAnswerChunks / 2 // greatest number of slots for one answer, even if it is larger
	answerWait       = 100 * time.Millisecond
)

// acquireAnswer takes the slots of an answer while it is sent. It returns nil for answers that need none: small answers, and answers that
// are cached for all callers. The answer to a change needs none either, because the change was already made; rate limits bound changes.
func (c *Call) acquireAnswer(ctx context.Context, a answer) (*compute.Slot, error) {
	chunks := min(len(a.body)/chunkBytes, maxAnswerChunks)
	if chunks == 0 || a.packed != nil || c.op.Changes() {
		return nil, nil
	}
	return c.acquire(ctx, c.server.memory.answerChunks, int64(chunks),
		"You have not received many large answers yet. Try again in a second, and ask for few at the same time.")
}
