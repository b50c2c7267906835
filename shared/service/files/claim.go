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

	"assay/shared/domain/record"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// ClaimKey is the key of an object whose content is the id of a table. All other objects belong to that table.
const ClaimKey = "table"

// maxClaim bounds the bytes that are read of that object.
const maxClaim = 1 << 10

// ErrOtherTable means that the files belong to another table.
var ErrOtherTable = errors.New("the files belong to another table, and would be deleted as files that nothing names: choose another " +
	"folder or bucket for the files, or the table that these belong to")

// Claim binds objects to a table.
type Claim struct {
	Table   store.Store
	Objects blob.Store
	Now     func() time.Time
}

// Make claims the objects for the table, and gives the table an identity if it has none. It returns ErrOtherTable if another table has
// claimed the objects. Otherwise the cleaning of abandoned files would delete all files of the other table, because no record of this
// table names them.
func (c Claim) Make(ctx context.Context) error {
	named, err := NameTable(ctx, c.Table, c.Now)
	if err != nil {
		return err
	}
	id := named.ID
	if err = checkClaim(ctx, id, c.Objects); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(id)))
	o := blob.Object{Key: ClaimKey, Size: int64(len(id)), SHA256: digest, MediaType: "text/plain"}
	return c.Objects.Put(ctx, o, strings.NewReader(id))
}

// CheckClaim returns ErrOtherTable if another table has claimed the objects. It writes nothing.
func CheckClaim(ctx context.Context, table store.Store, objects blob.Store) error {
	named, err := identity(ctx, table)
	if err != nil {
		return err
	}
	named = cmp.Or(named, new(record.TableIdentity))
	if err := checkClaim(ctx, named.ID, objects); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	return nil
}

// checkClaim compares the claim with the id of a table. It returns blob.ErrNotFound if there is no claim.
func checkClaim(ctx context.Context, id string, objects blob.Store) error {
	claimed, err := Claimant(ctx, objects)
	if err == nil && claimed != id {
		err = fmt.Errorf("%w (of %q, and this one is %q)", ErrOtherTable, claimed, id)
	}
	return err
}

// Claimant returns the id of the table that has claimed the objects. It returns blob.ErrNotFound if there is no claim.
func Claimant(ctx context.Context, objects blob.Store) (id string, err error) {
	content, err := objects.Open(ctx, ClaimKey)
	if err != nil {
		return "", err
	}
	defer func() { _ = content.Close() }()
	claimed, err := io.ReadAll(io.LimitReader(content, maxClaim))
	return string(claimed), err
}
