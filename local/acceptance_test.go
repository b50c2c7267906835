//go:build !race

package main

import (
	"testing"

	"assay/functions/acceptancetest"
	"assay/shared/store/dynamo/dynamotest"
)

func TestAccess(t *testing.T) { acceptancetest.AccessMatrix(t, setup(t)) }

func TestHiddenIsMissing(t *testing.T) { acceptancetest.HiddenIsMissing(t, setup(t)) }

// TestServer_OverDynamoDB runs the acceptance tests over a table of DynamoDB.
func TestServer_OverDynamoDB(t *testing.T) {
	startDynamoDB(t)
	for name, test := range acceptancetest.Suites() {
		t.Run(name, func(t *testing.T) { test(t, setup(t, dynamoDBFlags(dynamotest.TableName())...)) })
	}
}
