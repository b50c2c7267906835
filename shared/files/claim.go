package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// ClaimKey is the key of the object that has the id of the table which the other objects belong to.
const ClaimKey = "table"

// maxClaim bounds what is read of that object.
const maxClaim = 1 << 10

// ErrOtherTable means that the files belong to another table.
var ErrOtherTable = errors.New("the files belong to another table, and would be deleted as files that nothing names: choose another " +
	"folder or bucket for the files, or the table that these belong to")

// Claim says that objects belong to a table.
type Claim struct {
	Table   store.Store
	Objects blob.Store
	Now     func() time.Time
}

// Make makes the objects those of the table. The error is that they are another table's: files that no record names are deleted
// after some days, and in this table no record names those of the other.
func (c Claim) Make(ctx context.Context) error {
	id, err := c.tableID(ctx)
	if err != nil {
		return err
	}
	if err = checkClaim(ctx, id, c.Objects); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(id)))
	o := blob.Object{Key: ClaimKey, Size: int64(len(id)), SHA256: digest, MediaType: "text/plain"}
	return c.Objects.Put(ctx, o, strings.NewReader(id))
}

// CheckClaim returns ErrOtherTable when the objects are claimed, and not by the table. It writes nothing.
func CheckClaim(ctx context.Context, table store.Store, objects blob.Store) error {
	r, err := records.Get[record.Reservation](ctx, table, store.Strong, record.TableIdentityKey())
	if err != nil {
		return err
	}
	r = cmp.Or(r, new(record.Reservation))
	if err := checkClaim(ctx, r.ID, objects); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	return nil
}

// checkClaim compares the claim with the id of a table; blob.ErrNotFound when there is no claim.
func checkClaim(ctx context.Context, id string, objects blob.Store) error {
	content, err := objects.Open(ctx, ClaimKey)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	claimed, err := io.ReadAll(io.LimitReader(content, maxClaim))
	if err == nil && string(claimed) != id {
		err = fmt.Errorf("%w (of %q, and this one is %q)", ErrOtherTable, claimed, id)
	}
	return err
}

// tableID is the unique id of the table; a table without one gets one.
func (c Claim) tableID(ctx context.Context) (id string, err error) {
	err = records.Retry(ctx, func() error {
		r, err := records.Get[record.Reservation](ctx, c.Table, store.Strong, record.TableIdentityKey())
		if err == nil && r == nil {
			r = &record.Reservation{Meta: record.NewMeta(c.Now()), At: record.TableIdentityKey()}
			err = new(records.Tx).Create(r).Commit(ctx, c.Table)
		}
		if err == nil {
			id = r.ID
		}
		return err
	})
	return id, err
}
