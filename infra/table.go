package main

import (
	"assay/shared/store"
	"assay/shared/store/dynamo"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// recoveryDays is how long the table can be set back to any second, and how long the bucket keeps what was deleted: a
// table that is set back finds its files.
const recoveryDays = 35

// table is the table that the functions work on.
type table struct{ name, arn, stream *string }

// addTable makes the table. Its key is AWS's own, whose use costs neither a fee nor a call.
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
			Projection: awsdynamodb.CfnTable_ProjectionProperty{ProjectionType: jsii.String("ALL")},
		})
	}
	t := awsdynamodb.NewCfnTable(st.scope, jsii.String("Table"), &awsdynamodb.CfnTableProps{
		BillingMode:            jsii.String("PAY_PER_REQUEST"),
		AttributeDefinitions:   attributes,
		KeySchema:              keySchema(dynamo.PartitionKey, dynamo.SortKey),
		GlobalSecondaryIndexes: indexes,
		StreamSpecification:    awsdynamodb.CfnTable_StreamSpecificationProperty{StreamViewType: jsii.String("NEW_IMAGE")},
		TimeToLiveSpecification: awsdynamodb.CfnTable_TimeToLiveSpecificationProperty{
			AttributeName: jsii.String(dynamo.ExpiryAttribute), Enabled: true},
		DeletionProtectionEnabled: st.Keeps,
		PointInTimeRecoverySpecification: awsdynamodb.CfnTable_PointInTimeRecoverySpecificationProperty{
			PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: jsii.Number(recoveryDays),
		},
		SseSpecification: awsdynamodb.CfnTable_SSESpecificationProperty{SseEnabled: false}, // false: by the key that AWS owns
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

// indexes is the ARN of all indexes of the table.
func (t table) indexes() *string {
	return awscdk.Fn_Join(jsii.String(""), jsii.Strings(*t.arn, "/index/*"))
}
