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
// if the request has no key, or is a preview. If the returned record has no answer, the caller must remove the key from claims.
func (c *Call) claimKey(ctx context.Context) (*record.Idempotency, error) {
	name, err := c.idempotencyKey()
	if err != nil || name == "" || c.preview != nil {
		return nil, err
	}
	mine := c.newClaim(name)
	_, handled := c.server.claims.LoadOrStore(mine.Key(), nil)
	if handled {
		return c.takeOver(ctx, mine, false)
	}
	claimed, err := c.storeClaim(ctx, mine)
	if err != nil || claimed.Done {
		c.server.claims.Delete(mine.Key()) // this request does nothing under the key
	}
	return claimed, err
}

// idempotencyKey returns the value of the header, or "" without the header. It refuses values that are no keys.
func (c *Call) idempotencyKey() (string, error) {
	values := c.request.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := strings.Join(values, ",") // like API Gateway
	isForbidden := func(r rune) bool { return r < 0x21 || r > 0x7e || r == ',' }
	if key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, isForbidden) {
		return "", problem.BadRequest.New("Send one %s of 1 to %d visible ASCII characters without a comma, for example a UUID.",
			idempotencyHeader, maxIdempotencyKey)
	}
	return key, nil
}

// newClaim returns the record with which this request claims a key.
func (c *Call) newClaim(name string) *record.Idempotency {
	now := c.Now()
	digest := digestOf([]string{c.op.Method, c.request.URL.EscapedPath(), string(c.body)})
	claim := &record.Idempotency{
		Meta: record.NewMeta(now), Name: name, Digest: hex.EncodeToString(digest), Until: record.At(now.Add(record.IdempotencyHold)),
	}
	claim.ID = c.Caller.ID
	return claim
}

// storeClaim stores the claim. If the key has a record already, it takes over this record.
func (c *Call) storeClaim(ctx context.Context, mine *record.Idempotency) (*record.Idempotency, error) {
	err := new(records.Tx).Create(mine).Commit(ctx, c.Store)
	switch {
	case err == nil:
		return mine, nil
	case records.IsConflict(err):
		return c.takeOver(ctx, mine, c.Alone)
	default:
		return nil, err
	}
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
