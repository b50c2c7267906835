package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"assay/shared/service/board"
	"assay/shared/service/files"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/embedded"

	aws "github.com/aws/aws-sdk-go-v2/config"
)

// The values of -store.
const (
	storeEmbedded = "embedded"
	storeDynamoDB = "dynamodb"
)

// table is the store of the resources.
type table struct {
	store.Store
	displayName string // name in messages
	close       func() error
	embedded    *embedded.Store // nil for DynamoDB
	boards      *board.Boards   // of the embedded store; nil for DynamoDB, to which other processes write too
}

// tableFile is the name of the embedded table in the folder of the data.
const tableFile = "table.db"

// openTable opens the table that the flags name. The table calls changed with the items that this server writes.
func openTable(ctx context.Context, c settings, changed func([]store.Item)) (*table, error) {
	if c.store == storeEmbedded {
		if err := checkComplete(c.data); err != nil {
			return nil, err
		}
		path := filepath.Join(c.data, tableFile)
		boards := board.NewBoards()
		s, err := embedded.Open(path, embedded.Options{OnCommit: boards.Committed, OnChange: changed, Now: c.now})
		if err != nil {
			return nil, err
		}
		if err := files.CheckForm(ctx, s); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), s.Close())
		}
		return &table{Store: s, displayName: path, close: s.Close, embedded: s, boards: boards}, nil
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
	if err := files.CheckForm(ctx, s); err != nil {
		return nil, fmt.Errorf("DynamoDB's table %s: %w", c.table, err)
	}
	return &table{Store: s, displayName: "DynamoDB's table " + c.table, close: func() error { return nil }}, nil
}

// checkTable returns an error if the table does not answer, or is no table of Assay.
func checkTable(ctx context.Context, s store.Store) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	_, err := s.Query(ctx, store.Query{Index: store.NumIndexes, Partition: "PING", Limit: 1})
	return err
}
