package main

import (
	"fmt"
	"testing"

	"assay/shared/store"
)

func TestTheTableIsWhatTheDriverExpects(t *testing.T) {
	for _, tpl := range []template{dev, prod} {
		table := tpl.one(t, "AWS::DynamoDB::Table")
		holds(t, table, map[string]string{
			"BillingMode":                                             `"PAY_PER_REQUEST"`,
			"KeySchema":                                               `[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}]`,
			"StreamSpecification.StreamViewType":                      `"NEW_IMAGE"`,
			"TimeToLiveSpecification":                                 `{"AttributeName":"x","Enabled":true}`,
			"PointInTimeRecoverySpecification":                        `{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}`,
			"SSESpecification.SSEEnabled":                             "false", // by AWS's own key, not by none
			fmt.Sprint("GlobalSecondaryIndexes.", store.NumIndexes):   "null",
			fmt.Sprint("AttributeDefinitions.", 2+2*store.NumIndexes): "null",
		})
		for i := range store.NumIndexes {
			index, n := fmt.Sprintf("GlobalSecondaryIndexes.%d.", i), i+1
			holds(t, table, map[string]string{
				index + "IndexName":                           fmt.Sprintf(`"by%d"`, n),
				index + "KeySchema":                           fmt.Sprintf(`[{"AttributeName":"p%d","KeyType":"HASH"},{"AttributeName":"s%d","KeyType":"RANGE"}]`, n, n),
				index + "Projection.ProjectionType":           `"ALL"`,
				fmt.Sprintf("AttributeDefinitions.%d", 2+2*i): fmt.Sprintf(`{"AttributeName":"p%d","AttributeType":"S"}`, n),
				fmt.Sprintf("AttributeDefinitions.%d", 3+2*i): fmt.Sprintf(`{"AttributeName":"s%d","AttributeType":"S"}`, n),
			})
		}
	}
}

// TestDataOutlivesProd holds what can't be made again: the table, the files, and the users, whose ids follow from the pool.
func TestDataOutlivesProd(t *testing.T) {
	for _, c := range []struct {
		template
		policy, table, pool string
	}{{dev, "Delete", "false", `"INACTIVE"`}, {prod, "Retain", "true", `"ACTIVE"`}} {
		for _, id := range []string{"Table", "Bucket", "BucketPolicy", "Users"} {
			if r := c.Resources[id]; r.DeletionPolicy != c.policy || r.UpdateReplacePolicy != c.policy {
				t.Errorf("%s has the policies %s and %s, want %s", id, r.DeletionPolicy, r.UpdateReplacePolicy, c.policy)
			}
		}
		holds(t, c.Resources["Table"], map[string]string{"DeletionProtectionEnabled": c.table})
		holds(t, c.Resources["Users"], map[string]string{"DeletionProtection": c.pool})
	}
}

func TestTheBucketIsPrivateVersionedAndTLSOnly(t *testing.T) {
	for _, tpl := range []template{dev, prod} {
		bucket := tpl.one(t, "AWS::S3::Bucket")
		holds(t, bucket, map[string]string{
			"PublicAccessBlockConfiguration":            `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
			"OwnershipControls.Rules.0.ObjectOwnership": `"BucketOwnerEnforced"`,
			"VersioningConfiguration.Status":            `"Enabled"`,
			"BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm": `"AES256"`,
			"LifecycleConfiguration.Rules.0.NoncurrentVersionExpiration.NoncurrentDays":                       "35",
			"LifecycleConfiguration.Rules.0.ExpiredObjectDeleteMarker":                                        "true",
			"LifecycleConfiguration.Rules.1.AbortIncompleteMultipartUpload.DaysAfterInitiation":               "1",
			"LifecycleConfiguration.Rules.0.ExpirationInDays":                                                 "null", // what is named stays
			"LifecycleConfiguration.Rules.2.Prefix":                                                           `"tools/"`,
			"LifecycleConfiguration.Rules.2.ExpirationInDays":                                                 "1",
			"LifecycleConfiguration.Rules.2.NoncurrentVersionExpiration.NoncurrentDays":                       "1",
			"CorsConfiguration.CorsRules.0.AllowedMethods":                                                    `["GET","HEAD","PUT"]`,
			"CorsConfiguration.CorsRules.0.AllowedOrigins":                                                    `["*"]`,
		})
		holds(t, tpl.one(t, "AWS::S3::BucketPolicy"), map[string]string{
			"Bucket.Ref":                           `"Bucket"`,
			"PolicyDocument.Statement.0.Effect":    `"Deny"`,
			"PolicyDocument.Statement.0.Principal": `"*"`,
			"PolicyDocument.Statement.0.Action":    `"s3:*"`,
			"PolicyDocument.Statement.0.Condition": `{"Bool":{"aws:SecureTransport":"false"}}`,
			"PolicyDocument.Statement.1":           "null",
		})
	}
	holds(t, special.one(t, "AWS::S3::Bucket"), map[string]string{"CorsConfiguration.CorsRules.0.AllowedOrigins": `["https://a.example","https://b.example"]`})
}

func TestARestoredTableTakesTheOthersPlace(t *testing.T) {
	if special.one(t, "AWS::DynamoDB::Table").DeletionPolicy != "Retain" {
		t.Error("the table that is left would go")
	}
	for id, f := range special.all("AWS::Lambda::Function") {
		if id != "ComponentsFunction" { // which has no table
			holds(t, f, map[string]string{"Environment.Variables.ASSAY_TABLE": `"assay-restored"`})
		}
	}
	holds(t, special.one(t, "AWS::Lambda::EventSourceMapping"), map[string]string{
		"EventSourceArn": `"arn:aws:dynamodb:eu-central-1:123456789012:table/assay-restored/stream/one"`,
	})
	const table = `{"Fn::Sub":"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/assay-restored"}`
	if got := rightsOf(t, special, "RunsRole")["dynamodb:PutItem"]; len(got) != 1 || got[0] != table {
		t.Errorf("written is %v", got)
	}
}
