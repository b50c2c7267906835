package record

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/shared/storage/store"
)

//go:embed schema.golden
var form []byte

// Digest identifies the form of this build's records. It is the digest of schema.golden, which lists their members and types.
var Digest = fmt.Sprintf("%x", sha256.Sum256(form))[:16]

// ErrOtherForm means that this build must neither read nor write the records of a table or an export, because their form is another one.
var ErrOtherForm = errors.New("use the build that wrote it, or start with an empty folder or table")

// CheckForm returns ErrOtherForm unless schema and digest, which the source of records names, equal this build's.
func CheckForm(source string, schema int, digest string) error {
	if schema == Schema && digest == Digest {
		return nil
	}
	if digest == "" {
		digest = "none"
	}
	return fmt.Errorf("%s has records of schema %d, digest %s, and this build reads and writes only schema %d, digest %s: %w", source, schema,
		digest, Schema, Digest, ErrOtherForm)
}

// TableIdentity tells a table from others, and names the form of all its records. The first server that uses a table creates it.
type TableIdentity struct {
	Meta
	Digest string `json:"digest"`
}

// NewTableIdentity returns the identity of a table whose records this build writes.
func NewTableIdentity(now time.Time) *TableIdentity {
	return &TableIdentity{Meta: NewMeta(now), Digest: Digest}
}

// TableIdentityKey is the key of the TableIdentity.
func TableIdentityKey() store.Key { return store.Key{Partition: "TABLE", Sort: "IDENTITY"} }

// Key implements Record.
func (*TableIdentity) Key() store.Key { return TableIdentityKey() }

// DecodeTableIdentity reads the identity of a table, and returns nil when the item does not exist. For a table with records of another
// form the error is ErrOtherForm.
func DecodeTableIdentity(it store.Item) (*TableIdentity, error) {
	if !it.Exists() {
		return nil, nil
	}
	var named struct {
		Schema int
		Digest string
	}
	if err := json.Unmarshal(it.Data, &named); err != nil {
		return nil, fmt.Errorf("record: decode the identity of the table: %w", err)
	}
	if err := CheckForm("the table", named.Schema, named.Digest); err != nil {
		return nil, err
	}
	t := new(TableIdentity)
	return t, Decode(it, t)
}
