// Package awsconfig makes settings for the AWS SDK from the environment variables of Lambda and of the deployment. The SDK's own config
// package searches profiles, files and metadata services, which functions do not have. The search would take two to three milliseconds
// of each cold start.
package awsconfig

import (
	"os"

	"assay/shared/service/config"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Driver opens the bucket with the name.
type Driver[S any] func(cfg aws.Config, name string) S

// Table returns the settings for DynamoDB, and the name of the table.
func Table(e *config.Environment) (aws.Config, string) {
	return function(e, "AWS_ENDPOINT_URL_DYNAMODB"), e.Require(config.TableVariable)
}

// Bucket returns the settings for S3, and the name of the bucket.
func Bucket(e *config.Environment) (aws.Config, string) {
	return function(e, "AWS_ENDPOINT_URL_S3"), e.Require(config.BucketVariable)
}

// Scheduler returns the settings for EventBridge Scheduler.
func Scheduler(e *config.Environment) aws.Config { return function(e, "AWS_ENDPOINT_URL_SCHEDULER") }

// SES returns the settings for Amazon SES.
func SES(e *config.Environment) aws.Config { return function(e, "AWS_ENDPOINT_URL_SESV2") }

// function returns the region and the credentials of the function's role. endpointVariable is the SDK's variable with the endpoint of
// the service, which tests set.
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
