// Package awsconfig makes the settings of the AWS SDK from the variables that Lambda and the deployment set. The SDK's own config
// package looks for profiles, files and metadata services that a function does not have, which costs two to three milliseconds of
// each cold start.
package awsconfig

import (
	"os"

	"assay/shared/config"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Driver opens a bucket of the name.
type Driver[S any] func(cfg aws.Config, name string) S

// Table returns how to reach DynamoDB, and the name of the table.
func Table(e *config.Environment) (aws.Config, string) {
	return function(e, "AWS_ENDPOINT_URL_DYNAMODB"), e.Require(config.TableVariable)
}

// Bucket returns how to reach S3, and the name of the bucket.
func Bucket(e *config.Environment) (aws.Config, string) {
	return function(e, "AWS_ENDPOINT_URL_S3"), e.Require(config.BucketVariable)
}

// Scheduler returns how to reach EventBridge Scheduler.
func Scheduler(e *config.Environment) aws.Config { return function(e, "AWS_ENDPOINT_URL_SCHEDULER") }

// SES returns how to reach Amazon SES.
func SES(e *config.Environment) aws.Config { return function(e, "AWS_ENDPOINT_URL_SESV2") }

// function returns the region and the credentials of the function's role, and the endpoint that the SDK's variable names, if any, such
// as a server for tests.
func function(e *config.Environment, endpointVariable string) aws.Config {
	cfg := aws.Config{
		Region: e.Require("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(
			e.Require("AWS_ACCESS_KEY_ID"), e.Require("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
	}
	if endpoint := os.Getenv(endpointVariable); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}
