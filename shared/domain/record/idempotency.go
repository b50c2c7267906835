package record

import (
	"crypto/sha256"
	"fmt"
	"time"

	"assay/shared/storage/store"
)

// IdempotencyTime is how long the answer to a POST with an Idempotency-Key is repeated. IdempotencyHold is how long a request keeps
// other requests with its key from taking over. Every request is shorter.
const (
	IdempotencyTime = 24 * time.Hour
	IdempotencyHold = time.Minute
)

// Idempotency is the answer to a POST with an Idempotency-Key, or records that such a POST is in progress.
type Idempotency struct {
	Meta     // ID is the ID of the user
	Name     string
	Digest   string // of method, path and body
	Done     bool
	Status   int
	Location string
	ETag     string
	Body     []byte
	Until    Instant
}

// IdempotencyKey returns the key of the record for the user's Idempotency-Key.
func IdempotencyKey(userID, key string) store.Key {
	return store.Key{Partition: fmt.Sprintf("IDEMPOTENCY#%s#%x", userID, sha256.Sum256([]byte(key))), Sort: "KEY"}
}

// Key implements Record.
func (i *Idempotency) Key() store.Key { return IdempotencyKey(i.ID, i.Name) }

// Expiry returns when the store deletes the record.
func (i *Idempotency) Expiry() time.Time { return i.Until.Time }
