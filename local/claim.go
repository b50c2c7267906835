package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// claimKey is the key of the object that has the id of the table which the other objects belong to.
const claimKey = "table"

// claimFiles makes the files those of the table. The error is that they are another table's: files that no record names are deleted
// after some days, and in this table no record names those of the other.
func claimFiles(ctx context.Context, t *table, files blob.Store, now time.Time) error {
	id, err := tableID(ctx, t, now)
	if err != nil {
		return err
	}
	content, err := files.Open(ctx, claimKey)
	if errors.Is(err, blob.ErrNotFound) {
		sum := sha256.Sum256([]byte(id))
		return files.Put(ctx, blob.Object{Key: claimKey, Size: int64(len(id)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain"},
			strings.NewReader(id))
	}
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	claimed, err := io.ReadAll(content)
	if err == nil && string(claimed) != id {
		err = fmt.Errorf("the files in the folder of the data belong to another table (%s) than %s (%s), and would be deleted as files that "+
			"nothing names: "+
			"choose another folder with -data, or the table of these files with -store and -table", claimed, t.place, id)
	}
	return err
}

// tableID is the id that tells the table from others; a table that has none yet gets one.
func tableID(ctx context.Context, s store.Store, now time.Time) (id string, err error) {
	err = records.Retry(ctx, func() error {
		r, err := records.Get[record.Reservation](ctx, s, store.Strong, record.TableIdentityKey())
		if err == nil && r == nil {
			r = &record.Reservation{Meta: record.NewMeta(now), At: record.TableIdentityKey()}
			err = new(records.Tx).Create(r).Commit(ctx, s)
		}
		if err == nil {
			id = r.ID
		}
		return err
	})
	return id, err
}
