// Package environment reads what a deployment gives a function: names of the table and the bucket, whom to trust, and
// AWS's credentials, all as environment variables.
//
// It does without the SDK's config package, which looks for profiles, files and metadata services that a function does not
// have, and costs two to three milliseconds of each cold start for it.
package environment

import (
	"log/slog"
	"os"
	"strings"

	"assay/shared/quota"
	"assay/shared/record"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// The variables that the deployment sets.
const (
	TableVariable    = "ASSAY_TABLE"    // name of DynamoDB's table
	BucketVariable   = "ASSAY_BUCKET"   // name of S3's bucket
	IssuerVariable   = "ASSAY_ISSUER"   // OpenID Connect issuer to trust
	AudienceVariable = "ASSAY_AUDIENCE" // audience that its tokens must have
	QuotasVariable   = "ASSAY_QUOTAS"   // what the quotas of users and server are, in JSON, where they are not the defaults; see record.Quotas
	OriginsVariable  = "ASSAY_ORIGINS"  // origins of web pages that may call the API, separated by commas; none: all
)

// Variables of the SDK that name another endpoint than AWS's own, such as a server for tests.
const (
	dynamoDBEndpoint = "AWS_ENDPOINT_URL_DYNAMODB"
	s3Endpoint       = "AWS_ENDPOINT_URL_S3"
)

// Need returns the value of a variable. Without it the program ends: the deployment has a fault.
func Need(name string) string {
	v := os.Getenv(name)
	if v == "" {
		slog.Error("the deployment must set a variable that is missing", "variable", name)
		os.Exit(1)
	}
	return v
}

// Origins returns the origins of web pages that may call the API.
func Origins() []string {
	if v := os.Getenv(OriginsVariable); v != "" {
		return strings.Split(v, ",")
	}
	return []string{"*"}
}

// Quotas returns what users may take. Settings that cannot be read end the program: the deployment has a fault.
func Quotas() record.Quotas {
	q, err := quota.Parse(record.DefaultQuotas(), os.Getenv(QuotasVariable))
	if err != nil {
		slog.Error("the deployment sets quotas that cannot be read", "variable", QuotasVariable, "error", err)
		os.Exit(1)
	}
	return q
}

// Table returns how to reach DynamoDB, and the name of the table.
func Table() (aws.Config, string) { return AWS(dynamoDBEndpoint), Need(TableVariable) }

// Bucket returns how to reach S3, and the name of the bucket.
func Bucket() (aws.Config, string) { return AWS(s3Endpoint), Need(BucketVariable) }

// AWS returns the region and the credentials of the function's role, and the endpoint that the variable names, if any.
func AWS(endpointVariable string) aws.Config {
	cfg := aws.Config{
		Region: Need("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(
			Need("AWS_ACCESS_KEY_ID"), Need("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
	}
	if endpoint := os.Getenv(endpointVariable); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}
