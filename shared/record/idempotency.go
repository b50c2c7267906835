package record

import (
	"crypto/sha256"
	"fmt"
	"time"

	"assay/shared/store"
)

// IdempotencyTime is how long the answer to a POST with an Idempotency-Key is given again; IdempotencyHold how long a
// request may be under way before another with its key may take over, which is longer than any request lasts.
const (
	IdempotencyTime = 24 * time.Hour
	IdempotencyHold = time.Minute
)

// Idempotency is the answer to a POST that carried an Idempotency-Key, or that such a POST is under way.
type Idempotency struct {
	Meta     // ID is the user's
	Name     string
	Digest   string // of method, path and body
	Done     bool
	Status   int
	Location string
	ETag     string
	Body     []byte
	Until    Instant
}

// IdempotencyKey is the key of the record of the user's key.
func IdempotencyKey(userID, key string) store.Key {
	return store.Key{Partition: fmt.Sprintf("IDEMPOTENCY#%s#%x", userID, sha256.Sum256([]byte(key))), Sort: "KEY"}
}

// Key implements Record.
func (i *Idempotency) Key() store.Key { return IdempotencyKey(i.ID, i.Name) }

// Expiry says when the record goes by itself.
func (i *Idempotency) Expiry() time.Time { return i.Until.Time }
