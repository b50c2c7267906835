package api

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// idempotencyHeader is the header with which a client makes a POST safe to repeat.
const idempotencyHeader = "Idempotency-Key"

const maxIdempotencyKey = 255

// claimKey claims the request's Idempotency-Key. If the key was used before, it returns the record with the first answer. It returns nil
// if the request has no key.
func (c *Call) claimKey(ctx context.Context) (claimed *record.Idempotency, err error) {
	names := c.request.Header.Values(idempotencyHeader)
	if len(names) == 0 {
		return nil, nil
	}
	name := strings.Join(names, ",") // like API Gateway
	if name == "" || len(name) > maxIdempotencyKey ||
		strings.ContainsFunc(name, func(r rune) bool { return r < 0x21 || r > 0x7e || r == ',' }) {
		return nil, problem.BadRequest.New("Send one %s of 1 to %d visible ASCII characters without a comma, for example a UUID.",
			idempotencyHeader, maxIdempotencyKey)
	}
	if c.preview != nil {
		return nil, nil
	}
	now := c.Now()
	digest := digestOf([]string{c.op.Method, c.request.URL.EscapedPath(), string(c.body)})
	mine := &record.Idempotency{
		Meta: record.NewMeta(now), Name: name, Digest: hex.EncodeToString(digest), Until: record.At(now.Add(record.IdempotencyHold)),
	}
	mine.ID = c.Caller.ID
	_, handled := c.server.claims.LoadOrStore(mine.Key(), nil)
	if handled {
		return c.takeOver(ctx, mine, false)
	}
	defer func() {
		if err != nil || claimed.Done {
			c.server.claims.Delete(mine.Key())
		}
	}()
	if err = new(records.Tx).Create(mine).Commit(ctx, c.Store); err == nil {
		return mine, nil
	}
	if !records.IsConflict(err) {
		return nil, err
	}
	return c.takeOver(ctx, mine, c.Alone)
}

// takeOver returns the stored record for the key of mine. It returns a finished record, with its answer, unchanged. If the request that
// claimed the key is known to have ended without an answer, takeOver moves the claim to this request. That happens when a process was
// killed, or could not free its key.
func (c *Call) takeOver(ctx context.Context, mine *record.Idempotency, ended bool) (*record.Idempotency, error) {
	old, err := records.Get[record.Idempotency](ctx, c.Store, store.Strong, mine.Key())
	switch {
	case err != nil:
		return nil, err
	case old != nil && old.Digest != mine.Digest:
		return nil, problem.IdempotencyMismatch.New("This %s was used within the last 24 hours for another request. Use a new key for a new "+
			"request.", idempotencyHeader)
	case old != nil && old.Done:
		return old, nil
	case old != nil && ended:
		old.CreatedAt, old.Until = mine.CreatedAt, mine.Until
		return old, new(records.Tx).Replace(old).Or(requestUnderWay()).Commit(ctx, c.Store)
	default:
		return nil, requestUnderWay()
	}
}

// shownOnce is a created resource with parts that are shown only once, such as a secret. Repeated answers leave those parts out.
type shownOnce interface{ WithoutSecret() any }

// store adds the answer to the transaction, under the claimed key k. A nil k adds nothing. The transaction fails if another request has
// taken over the key.
func (a answer) store(tx *records.Tx, k *record.Idempotency, made any) error {
	if k == nil {
		return nil
	}
	if s, ok := made.(shownOnce); ok {
		redacted, err := newAnswer(a.status, s.WithoutSecret(), nil)
		if err != nil {
			return err
		}
		a.body = redacted.body
	}
	done := *k
	done.Done = true
	done.Status = a.status
	done.Location = a.location
	done.ETag = a.etag
	done.Body = a.body
	done.Until = record.At(k.CreatedAt.Add(record.IdempotencyTime))
	tx.Replace(&done).Or(requestUnderWay())
	return nil
}

func requestUnderWay() error {
	return problem.UnderWay.New("The request with this %s is still under way. Ask again in a moment for its answer.",
		idempotencyHeader).After(time.Second)
}

// releaseKey frees the key of a failed request, so that the client can send a corrected request with the same key.
func (c *Call) releaseKey(ctx context.Context, k *record.Idempotency) {
	if k == nil {
		return
	}
	ctx, cancel := cleanupContext(ctx)
	defer cancel()
	if err := new(records.Tx).Delete(k).Commit(ctx, c.Store); err != nil && !records.IsConflict(err) {
		c.Log.WarnContext(ctx, "cannot release an idempotency key; it stays claimed for a minute", "error", err)
	}
}

// writeReplay repeats the first answer.
func (c *Call) writeReplay(k *record.Idempotency) error {
	c.w.Header().Set("Idempotent-Replay", "true")
	return c.write(answer{status: k.Status, mediaType: mediaJSON, location: k.Location, etag: k.ETag, body: k.Body})
}
