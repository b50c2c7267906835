package main

import (
	"testing"

	"assay/functions/acceptancetest"
	"assay/shared/store/dynamo/dynamotest"
)

// TestServer_OverDynamoDB runs the acceptance tests over a table of DynamoDB.
func TestServer_OverDynamoDB(t *testing.T) {
	cfg := dynamotest.Start(t)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", *cfg.BaseEndpoint)
	t.Setenv("AWS_REGION", cfg.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	flags := func() []string {
		return []string{"-store", storeDynamoDB, "-create-table", "-table", dynamotest.TableName()}
	}
	t.Run("Scenario", func(t *testing.T) { acceptancetest.Scenario(t, setup(t, flags()...)) })
	t.Run("Access", func(t *testing.T) { acceptancetest.AccessMatrix(t, setup(t, flags()...)) })
	t.Run("HiddenIsMissing", func(t *testing.T) { acceptancetest.HiddenIsMissing(t, setup(t, flags()...)) })
}
