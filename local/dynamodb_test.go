package main

import (
	"testing"

	"assay/shared/store/dynamo/dynamotest"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// startDynamoDB starts a server for tables, which the environment of the test names.
func startDynamoDB(t *testing.T) aws.Config {
	t.Helper()
	cfg := dynamotest.Start(t)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", *cfg.BaseEndpoint)
	t.Setenv("AWS_REGION", cfg.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	return cfg
}

func dynamoDBFlags(table string) []string {
	return []string{"-store", storeDynamoDB, "-create-table", "-table", table}
}
