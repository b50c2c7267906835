package api

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/http"

	"assay/shared/domain/record"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Inputs is a digest of everything that the body of an answer depends on. A server remembers the entity tags of its latest
// answers by their Inputs. It can then answer 304 without rendering the body again.
//
// Inputs never leave the process. The entity tag is a digest of the body, because a tag made from Inputs would also change with data that
// the caller does not see. The inputs of WriteComputed reveal nothing, so it makes its tags from them.
type Inputs struct {
	hash hash.Hash
	rest []byte // not yet in hash
}

// inputsDigest identifies Inputs.
type inputsDigest = [sha256.Size]byte

// Inputs returns the Inputs of the answer to the request, which begin with its address and media type. The handler adds the others.
func (c *Call) Inputs() *Inputs {
	path, query := c.Address()
	in := &Inputs{hash: sha256.New()}
	in.Text(c.op.ID, c.accepted, c.BaseURL(), path, query)
	return in
}

// Text adds texts.
func (in *Inputs) Text(texts ...string) {
	for _, text := range texts {
		in.Number(len(text))
		in.rest = append(in.rest, text...)
	}
}

// Number adds numbers.
func (in *Inputs) Number(numbers ...int) {
	for _, n := range numbers {
		in.rest = binary.AppendVarint(in.rest, int64(n))
	}
	if len(in.rest) >= sha256.BlockSize {
		in.flush()
	}
}

// Record adds records in the state in which they were read from the store.
func (in *Inputs) Record(all ...record.Record) {
	for _, r := range all {
		key := r.Key()
		in.Text(key.Partition, key.Sort)
		in.Number(int(r.Stored()))
	}
}

func (in *Inputs) flush() {
	_, _ = in.hash.Write(in.rest) // never fails
	in.rest = in.rest[:0]
}

func (in *Inputs) digest() (sum inputsDigest) {
	in.flush()
	in.hash.Sum(sum[:0])
	return sum
}

// The bounds of the tags that a server remembers. Each takes up to 900 bytes.
const (
	maxTags = 4096
	// maxKeptHeaders is the greatest length of the kept headers of a tag. Link has the query of the request, which can be much longer.
	maxKeptHeaders = 600
)

// tags remembers the entity tags of answers. It is safe for concurrent use.
type tags = lru.Cache[inputsDigest, knownTag]

// knownTag is what a server remembers of an answer.
type knownTag struct {
	etag    string                   // entity tag without a coding
	long    bool                     // the answer is a long text
	headers [len(keptHeaders)]string // values of keptHeaders
}

// keptHeaders are the headers of an answer that its 304 repeats, besides those of every answer. Caches update their headers from a 304: a
// page of CSV stays the same when another page follows it, but its Link changes.
var keptHeaders = [...]string{"Link", "Content-Security-Policy", "Referrer-Policy"}

// keepHeaders copies the keptHeaders from h. It reports whether they are short enough for the tag to be remembered.
func (t *knownTag) keepHeaders(h http.Header) (short bool) {
	length := 0
	for i, name := range keptHeaders {
		t.headers[i] = h.Get(name)
		length += len(t.headers[i])
	}
	return length <= maxKeptHeaders
}

// setHeaders sets the keptHeaders in h. It removes those that the answer does not have.
func (t *knownTag) setHeaders(h http.Header) {
	for i, name := range keptHeaders {
		h.Del(name)
		if t.headers[i] != "" {
			h.Set(name, t.headers[i])
		}
	}
}

func newTags() *tags {
	all, _ := lru.New[inputsDigest, knownTag](maxTags) // fails only for sizes below 1
	return all
}

// Unchanged evaluates the preconditions of a GET if the server remembers the tag of the answer to the inputs. It reports done if it
// answered 304. Otherwise the handler renders the answer, whose tag the server then remembers like after Remember.
func (c *Call) Unchanged(in *Inputs) (done bool, err error) {
	c.Remember(in)
	known, found := c.server.tags.Get(*c.inputs)
	if !found {
		return false, nil
	}
	known.setHeaders(c.w.Header())
	c.answered, err = c.checkReadPreconditions(known.under(c.state.codings)...)
	if !c.answered && err == nil {
		new(knownTag).setHeaders(c.w.Header()) // rendering sets them again
	}
	return c.answered, err
}

// Remember makes the server remember the tag of the answer that the handler writes next, unless the answer has long headers. The answer
// must depend on nothing but the inputs.
func (c *Call) Remember(in *Inputs) { c.inputs = new(in.digest()) }

// Conditional reports whether the request has preconditions on entity tags.
func (c *Call) Conditional() bool {
	_, match := c.entityTags("If-Match")
	_, noneMatch := c.entityTags("If-None-Match")
	return match || noneMatch
}

// under returns the entity tags that the answer can have for a caller who accepts the codings, the likelier tag first.
func (t knownTag) under(accepted codings) []string {
	if accepted.codes(t.long) {
		return accepted.tags(t.etag)
	}
	return []string{t.etag}
}
