package main

import (
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// uploaded lists the holders whose files clients upload directly to S3. S3 notifies a function of these uploads.
var uploaded = []record.Holder{record.HolderInputs, record.HolderTruths, record.HolderRuns}

// bucketName returns the bucket's name. The function that the bucket notifies needs the name before the bucket exists.
func (st *stack) bucketName() *string {
	return awscdk.Fn_Sub(jsii.String(st.resourceName("${AWS::AccountId}-${AWS::Region}")), nil)
}

// objects returns the ARN of the objects in the bucket with the prefix.
func (st *stack) objects(prefix string) *string {
	return awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:s3:::"+st.resourceName("${AWS::AccountId}-${AWS::Region}")+prefix), nil)
}

// addBucket creates the bucket, which notifies f of each uploaded file.
func (st *stack) addBucket(f *function, permission awslambda.CfnPermission) {
	notifications := lists.Map(uploaded, func(h record.Holder) any {
		return awss3.CfnBucket_LambdaConfigurationProperty{
			Event: jsii.String("s3:ObjectCreated:*"), Function: f.arn,
			Filter: awss3.CfnBucket_NotificationFilterProperty{S3Key: awss3.CfnBucket_S3KeyFilterProperty{
				Rules: []any{awss3.CfnBucket_FilterRuleProperty{Name: jsii.String("prefix"), Value: jsii.String(string(h) + "/")}},
			}},
		}
	})
	b := st.newBucket("Bucket", &awss3.CfnBucketProps{
		BucketName:              st.bucketName(),
		VersioningConfiguration: awss3.CfnBucket_VersioningConfigurationProperty{Status: jsii.String("Enabled")},
		LifecycleConfiguration: awss3.CfnBucket_LifecycleConfigurationProperty{Rules: []any{
			awss3.CfnBucket_RuleProperty{
				Id: jsii.String("deleted-files"), Status: jsii.String("Enabled"),
				NoncurrentVersionExpiration: awss3.CfnBucket_NoncurrentVersionExpirationProperty{NoncurrentDays: jsii.Number(recoveryDays)},
				ExpiredObjectDeleteMarker:   true,
			},
			awss3.CfnBucket_RuleProperty{
				Id: jsii.String("abandoned-uploads"), Status: jsii.String("Enabled"),
				AbortIncompleteMultipartUpload: awss3.CfnBucket_AbortIncompleteMultipartUploadProperty{DaysAfterInitiation: jsii.Number(1)},
			},
			awss3.CfnBucket_RuleProperty{ // results can be computed again
				Id: jsii.String("results-of-tools"), Status: jsii.String("Enabled"), Prefix: jsii.String(string(record.HolderTools) + "/"),
				ExpirationInDays:            jsii.Number(1),
				NoncurrentVersionExpiration: awss3.CfnBucket_NoncurrentVersionExpirationProperty{NoncurrentDays: jsii.Number(1)},
			},
		}},
		CorsConfiguration: awss3.CfnBucket_CorsConfigurationProperty{CorsRules: []any{awss3.CfnBucket_CorsRuleProperty{
			AllowedMethods: jsii.Strings("GET", "HEAD", "PUT"), AllowedOrigins: jsii.Strings(st.Origins...),
			AllowedHeaders: jsii.Strings("*"), // the signature of a link covers the required headers
			ExposedHeaders: jsii.Strings("ETag"), MaxAge: jsii.Number(3600),
		}}},
		NotificationConfiguration: awss3.CfnBucket_NotificationConfigurationProperty{LambdaConfigurations: notifications},
	})
	b.AddResourceDependency(permission, nil) // S3 checks that it may notify the function
	st.addBucketPolicy("Bucket", b)
	if st.LogsFiles {
		st.logAccess(b)
	}
}

// newBucket creates an encrypted bucket without public access.
func (st *stack) newBucket(id string, props *awss3.CfnBucketProps) awss3.CfnBucket {
	props.BucketEncryption = awss3.CfnBucket_BucketEncryptionProperty{ServerSideEncryptionConfiguration: []any{
		awss3.CfnBucket_ServerSideEncryptionRuleProperty{
			ServerSideEncryptionByDefault: awss3.CfnBucket_ServerSideEncryptionByDefaultProperty{SseAlgorithm: jsii.String("AES256")},
		},
	}}
	props.OwnershipControls = awss3.CfnBucket_OwnershipControlsProperty{
		Rules: []any{awss3.CfnBucket_OwnershipControlsRuleProperty{ObjectOwnership: jsii.String("BucketOwnerEnforced")}},
	}
	props.PublicAccessBlockConfiguration = awss3.CfnBucket_PublicAccessBlockConfigurationProperty{
		BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true,
	}
	b := awss3.NewCfnBucket(st.scope, &id, props)
	st.retainData(b)
	return b
}

// addBucketPolicy adds a policy that refuses requests without TLS, and allows what the statements say.
func (st *stack) addBucketPolicy(id string, b awss3.CfnBucket, allowed ...any) awss3.CfnBucketPolicy {
	p := awss3.NewCfnBucketPolicy(st.scope, jsii.String(id+"Policy"), &awss3.CfnBucketPolicyProps{
		Bucket: b.Ref(),
		PolicyDocument: policy(append(allowed, object{
			"Sid": "TLSOnly", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": []any{b.AttrArn(), within(b)},
			"Condition": object{"Bool": object{"aws:SecureTransport": "false"}},
		})...),
	})
	st.retainData(p)
	return p
}

// within returns the ARN of all objects in a bucket.
func within(b awss3.CfnBucket) *string {
	return awscdk.Fn_Join(jsii.String(""), jsii.Strings(*b.AttrArn(), "/*"))
}

// logAccess makes S3 log who accessed which file of the bucket, including ground truths. Unlike a trail of CloudTrail, this log costs
// only its storage.
func (st *stack) logAccess(b awss3.CfnBucket) {
	log := st.newBucket("FileLog", &awss3.CfnBucketProps{
		LifecycleConfiguration: awss3.CfnBucket_LifecycleConfigurationProperty{Rules: []any{awss3.CfnBucket_RuleProperty{
			Id: jsii.String("old-lines"), Status: jsii.String("Enabled"), ExpirationInDays: jsii.Number(float64(st.LogDays)),
		}}},
	})
	written := st.addBucketPolicy("FileLog", log, object{
		"Sid": "WriteLog", "Effect": "Allow", "Principal": object{"Service": "logging.s3.amazonaws.com"}, "Action": "s3:PutObject",
		"Resource": within(log), "Condition": object{
			"ArnEquals": object{"aws:SourceArn": st.objects("")}, "StringEquals": object{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
		},
	})
	b.AddResourceDependency(written, nil)
	b.SetLoggingConfiguration(awss3.CfnBucket_LoggingConfigurationProperty{
		DestinationBucketName: log.Ref(), LogFilePrefix: jsii.String("files/"),
		TargetObjectKeyFormat: awss3.CfnBucket_TargetObjectKeyFormatProperty{PartitionedPrefix: awss3.CfnBucket_PartitionedPrefixProperty{
			PartitionDateSource: jsii.String("EventTime"),
		}},
	})
	st.output("FileLogName", "Bucket with the log of who did what to which file", log.Ref())
}

// recoveryDays is the number of days for which the table can be restored to any second. The bucket keeps deleted files equally long, so
// that a restored table finds its files.
const recoveryDays = 35

// table is the table that the functions use.
type table struct{ name, arn, stream *string }

// addTable creates the table. It is encrypted with a key that AWS owns, which costs neither a fee nor a call. The table is not warmed
// up: a new table takes 4,000 write units and 12,000 read units a second, three times the need of a thousand submissions a minute.
func (st *stack) addTable() table {
	var attributes []any
	add := func(names ...string) {
		for _, n := range names {
			attributes = append(attributes, awsdynamodb.CfnTable_AttributeDefinitionProperty{
				AttributeName: jsii.String(n), AttributeType: jsii.String("S")})
		}
	}
	add(dynamo.PartitionKey, dynamo.SortKey)
	var indexes []any
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		p, s := dynamo.IndexKeys(i)
		add(p, s)
		indexes = append(indexes, awsdynamodb.CfnTable_GlobalSecondaryIndexProperty{
			IndexName: jsii.String(dynamo.IndexName(i)), KeySchema: keySchema(p, s),
			Projection: awsdynamodb.CfnTable_ProjectionProperty{
				ProjectionType: jsii.String("INCLUDE"), NonKeyAttributes: jsii.Strings(dynamo.ProjectedAttributes...)},
		})
	}
	t := awsdynamodb.NewCfnTable(st.scope, jsii.String("Table"), &awsdynamodb.CfnTableProps{
		BillingMode: jsii.String("PAY_PER_REQUEST"), AttributeDefinitions: attributes,
		KeySchema: keySchema(dynamo.PartitionKey, dynamo.SortKey), GlobalSecondaryIndexes: indexes,
		StreamSpecification: awsdynamodb.CfnTable_StreamSpecificationProperty{StreamViewType: jsii.String("NEW_IMAGE")},
		TimeToLiveSpecification: awsdynamodb.CfnTable_TimeToLiveSpecificationProperty{
			AttributeName: jsii.String(dynamo.ExpiryAttribute), Enabled: true},
		DeletionProtectionEnabled: st.protects(),
		PointInTimeRecoverySpecification: awsdynamodb.CfnTable_PointInTimeRecoverySpecificationProperty{
			PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: jsii.Number(recoveryDays),
		},
		SseSpecification: awsdynamodb.CfnTable_SSESpecificationProperty{SseEnabled: false}, // false means a key that AWS owns
	})
	st.retainData(t)
	if st.RestoredTable != "" {
		return table{name: &st.RestoredTable, arn: st.arn("dynamodb", "table/"+st.RestoredTable), stream: &st.RestoredStream}
	}
	return table{name: t.Ref(), arn: t.AttrArn(), stream: t.AttrStreamArn()}
}

func keySchema(partition, sort string) []any {
	return []any{
		awsdynamodb.CfnTable_KeySchemaProperty{AttributeName: &partition, KeyType: jsii.String("HASH")},
		awsdynamodb.CfnTable_KeySchemaProperty{AttributeName: &sort, KeyType: jsii.String("RANGE")},
	}
}

func (t table) indexes() *string {
	return awscdk.Fn_Join(jsii.String(""), jsii.Strings(*t.arn, "/index/*"))
}
