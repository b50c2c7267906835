package dynamo_test

import (
	"testing"

	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
	"assay/shared/store/storetest"
)

func TestConformance(t *testing.T) {
	cfg := dynamotest.Start(t)
	storetest.Run(t, func(t *testing.T) store.Store { return dynamotest.Open(t, cfg) })
}
