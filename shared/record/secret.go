package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"assay/shared/store"
)

// TruthSecret keys the digests of a dataset's truths. A plain digest lets anybody test a guess of a small truth; a keyed one
// is equal for equal truths of the dataset, and tells nothing else without the secret. The secret is made once, with the first
// truth, stays for all versions, and goes with the dataset. No answer, link, log or audit entry has it.
//
// Once a truth is released, the secret can be published with it: then anybody can verify an evaluation by comparing its
// digests.truth with the HMAC-SHA-256 under the secret of the SHA-256 over the truth files' digests, as Digest computes it.
// Truths of the dataset that are not released lose the protection with that, so until all are, the secret stays.
type TruthSecret struct {
	Meta   // ID is the dataset's
	Secret []byte
}

// NewTruthSecret returns a new secret for the dataset.
func NewTruthSecret(datasetID string, now time.Time) *TruthSecret {
	s := &TruthSecret{Meta: MetaOf(datasetID, now), Secret: make([]byte, sha256.Size)}
	_, _ = rand.Read(s.Secret) // it never returns an error
	return s
}

// Digest keys a digest of a truth, of which it takes the hexadecimal text.
func (s *TruthSecret) Digest(plain string) string {
	mac := hmac.New(sha256.New, s.Secret)
	_, _ = mac.Write([]byte(plain)) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil))
}

// Key implements Record.
func (s *TruthSecret) Key() store.Key { return TruthSecretKey(s.ID) }

// TruthSecretKey is the key of a dataset's TruthSecret.
func TruthSecretKey(datasetID string) store.Key {
	return store.Key{Partition: "DATASET#" + datasetID, Sort: "SECRET"}
}
