package files

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// identity reads the identity of the table; nil: it has none. It returns record.ErrOtherForm if this build must not use the table.
func identity(ctx context.Context, table store.Store) (*record.TableIdentity, error) {
	items, err := table.Get(ctx, store.Strong, record.TableIdentityKey())
	if err != nil {
		return nil, records.Failed(err)
	}
	return record.DecodeTableIdentity(items[0])
}

// CheckForm returns record.ErrOtherForm if the table has records of another form than this build's. A table without an identity must be
// empty. CheckForm writes nothing.
func CheckForm(ctx context.Context, table store.Scanner) error {
	named, err := identity(ctx, table)
	if named != nil || err != nil {
		return err
	}
	empty, err := isEmpty(ctx, table)
	if empty || err != nil {
		return err
	}
	// Another server may have given the table an identity since.
	if named, err = identity(ctx, table); named != nil || err != nil {
		return err
	}
	return record.CheckForm("the table", 0, "")
}

func isEmpty(ctx context.Context, table store.Scanner) (bool, error) {
	for after := (store.Key{}); ; {
		items, last, err := table.Scan(ctx, after, 1)
		if err != nil {
			return false, records.Failed(err)
		}
		if len(items) > 0 || last.IsZero() {
			return len(items) == 0, nil
		}
		after = last
	}
}

// NameTable returns the identity of the table. If the table has none, NameTable creates an identity with the form of this build's records.
func NameTable(ctx context.Context, table store.Store, now func() time.Time) (named *record.TableIdentity, err error) {
	err = records.Retry(ctx, func() error {
		if named, err = identity(ctx, table); named != nil || err != nil {
			return err
		}
		named = record.NewTableIdentity(now())
		return new(records.Tx).Create(named).Commit(ctx, table)
	})
	return named, err
}
