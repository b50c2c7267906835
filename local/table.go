package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/dynamo"
	"assay/shared/store/embedded"

	aws "github.com/aws/aws-sdk-go-v2/config"
)

// The values of -store.
const (
	storeEmbedded = "embedded"
	storeDynamoDB = "dynamodb"
)

// table is where the resources are kept.
type table struct {
	store.Store
	displayName string // in messages
	close       func() error
}

// openTable opens the table that the flags name, and calls changed with what this server writes to it.
func openTable(ctx context.Context, c settings, changed func([]store.Item)) (*table, error) {
	if c.store == storeEmbedded {
		path := filepath.Join(c.data, "table.db")
		s, err := embedded.Open(path, embedded.Options{OnChange: changed, Now: c.now})
		if err != nil {
			return nil, err
		}
		return &table{s, path, s.Close}, nil
	}
	cfg, err := aws.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("the AWS SDK's environment: %w", err)
	}
	s := dynamo.New(cfg, c.table)
	s.OnChange = changed
	if c.createTable {
		if err := s.CreateTable(ctx); err != nil {
			return nil, err
		}
	}
	if err := checkTable(ctx, s); err != nil {
		return nil, fmt.Errorf("DynamoDB's table %s cannot be used: check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB, the credentials and the "+
			"table's name; "+
			"-create-table makes the table when it is missing, and leaves one alone that has other keys or indexes: %w", c.table, err)
	}
	return &table{s, "DynamoDB's table " + c.table, func() error { return nil }}, nil
}

// checkTable returns an error when the table does not answer, or is not one of Assay's.
func checkTable(ctx context.Context, s store.Store) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	_, err := s.Query(ctx, store.Query{Index: store.NumIndexes, Partition: "PING", Limit: 1})
	return err
}

// claimKey is the key of the object that has the id of the table which the other objects belong to.
const claimKey = "table"

// claimFiles makes the files those of the table. The error is that they are another table's: files that no record names are deleted
// after some days, and in this table no record names those of the other.
func (t *table) claimFiles(ctx context.Context, files blob.Store, now time.Time) error {
	id, err := t.id(ctx, now)
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
			"choose another folder with -data, or the table of these files with -store and -table", claimed, t.displayName, id)
	}
	return err
}

// id is the unique id of the table; a table without one gets one.
func (t *table) id(ctx context.Context, now time.Time) (id string, err error) {
	err = records.Retry(ctx, func() error {
		r, err := records.Get[record.Reservation](ctx, t, store.Strong, record.TableIdentityKey())
		if err == nil && r == nil {
			r = &record.Reservation{Meta: record.NewMeta(now), At: record.TableIdentityKey()}
			err = new(records.Tx).Create(r).Commit(ctx, t)
		}
		if err == nil {
			id = r.ID
		}
		return err
	})
	return id, err
}
