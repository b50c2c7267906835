package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// function is a function that other resources refer to.
type function struct {
	id       string // prefix of the ids of its resources
	ref, arn *string
}

// addFunction creates a function with its own role and log.
func (st *stack) addFunction(d functions.Deployment) *function {
	id := strings.ToUpper(d.Name[:1]) + d.Name[1:]
	name := st.resourceName(d.Name)
	logs := st.addLog(id+"Log", "/aws/lambda/"+name)
	role := st.addRole(id+"Role", "What the function "+name+" may do", trustPolicy("lambda.amazonaws.com", nil), d.Name,
		st.rights(d, logs.AttrArn())...)
	code := awss3assets.NewAsset(st.scope, jsii.String(id+"Code"), &awss3assets.AssetProps{
		Path: jsii.String(filepath.Join(st.Binaries, d.Name))})
	props := &awslambda.CfnFunctionProps{
		FunctionName: &name, Description: jsii.String("Assay, " + d.Name), Role: role.AttrArn(),
		Architectures: jsii.Strings("arm64"), Runtime: jsii.String("provided.al2023"), Handler: jsii.String("bootstrap"),
		Code:       awslambda.CfnFunction_CodeProperty{S3Bucket: code.S3BucketName(), S3Key: code.S3ObjectKey()},
		MemorySize: jsii.Number(float64(d.MemoryMB)), Timeout: jsii.Number(d.Timeout.Seconds()),
		Environment:   awslambda.CfnFunction_EnvironmentProperty{Variables: st.environment(d)},
		LoggingConfig: awslambda.CfnFunction_LoggingConfigProperty{LogFormat: jsii.String("JSON"), LogGroup: logs.Ref()},
	}
	if n, ok := st.Concurrency[d.Name]; ok {
		props.ReservedConcurrentExecutions = jsii.Number(float64(n))
	}
	if st.Tracing {
		props.TracingConfig = awslambda.CfnFunction_TracingConfigProperty{Mode: jsii.String("Active")}
	}
	f := awslambda.NewCfnFunction(st.scope, jsii.String(id+"Function"), props)
	return &function{id: id, ref: f.Ref(), arn: f.AttrArn()}
}

// addLog creates a log group, which is deleted with the stack.
func (st *stack) addLog(id, name string) awslogs.CfnLogGroup {
	logs := awslogs.NewCfnLogGroup(st.scope, &id, &awslogs.CfnLogGroupProps{
		LogGroupName: &name, RetentionInDays: jsii.Number(float64(st.LogDays))})
	logs.ApplyRemovalPolicy(awscdk.RemovalPolicy_DESTROY, nil)
	return logs
}

// memoryVariable is the variable with which Go collects garbage more often before a process reaches an amount of memory. AWS kills a
// process at its limit. The rest of the limit is for memory outside of Go's heap, and for what the collector cannot prevent: evaluating the
// largest run against the largest truth takes 2,800 MiB of the function background with it.
const (
	memoryVariable = "GOMEMLIMIT"
	memoryPercent  = 85
)

// environment returns the environment variables of a function, or of the gRPC server.
func (st *stack) environment(d functions.Deployment) map[string]*string {
	e := map[string]*string{config.BucketVariable: st.bucketName(), config.TableVariable: st.table.name,
		memoryVariable: jsii.String(fmt.Sprintf("%dMiB", d.MemoryMB*memoryPercent/100))}
	if st.Quotas != "" {
		e[config.QuotasVariable] = &st.Quotas
	}
	if d.ByEvents() {
		e[config.ScheduleGroupVariable] = jsii.String(st.resourceName("due"))
		e[config.ScheduleRoleVariable] = st.arnOfSchedules()
		e[config.ScheduleTargetVariable] = st.arnOfFunction(functions.Background)
		e[config.DeadLettersVariable] = st.deadLetters.arn
		if d.Name == functions.Notifier {
			e[config.ScheduleTargetVariable] = st.arnOfFunction(functions.Notifier)
			e[config.URLVariable] = st.gateway.url
		}
		if d.SendsMail && st.MailFrom != "" {
			e[config.MailFromVariable] = &st.MailFrom
		}
		return e
	}
	e[config.IssuerVariable] = st.issuer.url
	e[config.AudienceVariable] = st.issuer.audience
	if len(d.Operations) > 0 {
		e[config.OriginsVariable] = jsii.String(strings.Join(st.Origins, ","))
		if st.VerifiesEmail {
			e[config.IssuerVerifiesEmailVariable] = jsii.String("true")
		}
	}
	if (d.Name == functions.Service || d.Name == functions.Console) && st.issuer.clientID != nil {
		e[config.ClientIDVariable] = st.issuer.clientID
	}
	if d.Name == functions.Service && st.MailFrom != "" { // It tells clients whether the notifier sends e-mails.
		e[config.MailFromVariable] = &st.MailFrom
	}
	if d.Name == functions.Console {
		e[config.FilesOriginVariable] = awscdk.Fn_Join(jsii.String(""), jsii.Strings("https://", *st.bucketName(), ".s3.",
			*awscdk.Aws_REGION(), ".", *awscdk.Aws_URL_SUFFIX()))
	}
	return e
}

// deadLetters is the queue of events that could not be processed. Operators inspect it.
type deadLetters struct{ name, url, arn *string }

// Retries of events. A lost event loses no work: due work is in the table, where the function background finds it at its next call, and the
// cleaning of abandoned files finds files without a notification.
const (
	streamRetries  = 5
	streamAge      = 6 * 60 * 60 // seconds
	eventRetries   = 2
	deadLetterDays = 14
)

func (st *stack) addDeadLetters() deadLetters {
	q := awssqs.NewCfnQueue(st.scope, jsii.String("DeadLetters"), &awssqs.CfnQueueProps{
		QueueName: jsii.String(st.resourceName("dead-letters")), SqsManagedSseEnabled: true,
		MessageRetentionPeriod: jsii.Number(deadLetterDays * 24 * 60 * 60),
	})
	q.ApplyRemovalPolicy(awscdk.RemovalPolicy_DESTROY, nil)
	return deadLetters{name: q.AttrQueueName(), url: q.Ref(), arn: q.AttrArn()}
}

// schedulesRole returns the name of the role that schedules assume.
func (st *stack) schedulesRole() string { return st.resourceName("due-schedules") }

// arnOfFunction returns the ARN of a function that may not exist yet.
func (st *stack) arnOfFunction(name string) *string {
	return st.arn("lambda", "function:"+st.resourceName(name))
}

// addSchedules creates the group for the one-time schedules with which background and notifier wake themselves for due work. It
// also creates the role with which schedules invoke them. The functions create schedules only for due work.
func (st *stack) addSchedules() {
	awsscheduler.NewCfnScheduleGroup(st.scope, jsii.String("DueSchedules"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(st.resourceName("due"))})
	schedules := trustPolicy("scheduler.amazonaws.com", object{"StringEquals": object{
		"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID(),
		"aws:SourceArn":     st.arn("scheduler", "schedule-group/"+st.resourceName("due")),
	}})
	role := st.addRole("DueSchedulesRole", "What the schedules of "+st.resourceName("due")+" may do", schedules, "wake",
		allow("Wake", []string{"lambda:InvokeFunction"}, st.arnOfFunction(functions.Background), st.arnOfFunction(functions.Notifier)),
		allow("SendToDeadLetters", []string{"sqs:SendMessage"}, st.deadLetters.arn))
	role.SetRoleName(jsii.String(st.schedulesRole()))
}

// addStream subscribes f to those changes of the table that put an item into a matching partition of record.ByWork. Schedules also call
// f. Lambda charges nothing for filtered changes.
func (st *stack) addStream(f *function, matches ...any) {
	awslambda.NewCfnEventSourceMapping(st.scope, jsii.String(f.id+"Stream"), &awslambda.CfnEventSourceMappingProps{
		FunctionName: f.ref, EventSourceArn: st.table.stream, StartingPosition: jsii.String("TRIM_HORIZON"),
		BatchSize: jsii.Number(10), ParallelizationFactor: jsii.Number(float64(st.ParallelWork)),
		BisectBatchOnFunctionError: true, FunctionResponseTypes: jsii.Strings("ReportBatchItemFailures"),
		MaximumRetryAttempts: jsii.Number(streamRetries), MaximumRecordAgeInSeconds: jsii.Number(streamAge),
		FilterCriteria: awslambda.CfnEventSourceMapping_FilterCriteriaProperty{Filters: st.workFilters(matches)},
		DestinationConfig: awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: st.deadLetters.arn},
		},
	})
	st.retryEvents(f)
}

// retryEvents configures what happens to events that f fails to handle.
func (st *stack) retryEvents(f *function) {
	awslambda.NewCfnEventInvokeConfig(st.scope, jsii.String(f.id+"Events"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: f.ref, Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(eventRetries), MaximumEventAgeInSeconds: jsii.Number(streamAge),
		DestinationConfig: awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: st.deadLetters.arn},
		},
	})
}

// addUploads lets the bucket notify f of uploaded files. It returns the permission, which must exist before the bucket.
func (st *stack) addUploads(f *function) awslambda.CfnPermission {
	st.retryEvents(f)
	return awslambda.NewCfnPermission(st.scope, jsii.String("UploadsPermission"), &awslambda.CfnPermissionProps{
		FunctionName: f.ref, Action: jsii.String("lambda:InvokeFunction"), Principal: jsii.String("s3.amazonaws.com"),
		SourceArn: st.objects(""), SourceAccount: awscdk.Aws_ACCOUNT_ID(),
	})
}

// workFilters returns filters for changes that put an item into one of the partitions.
func (st *stack) workFilters(matches []any) []any {
	partition, _ := dynamo.IndexKeys(record.ByWork)
	return lists.Map(matches, func(match any) any {
		pattern := object{"dynamodb": object{"NewImage": object{partition: object{"S": []any{match}}}}}
		return awslambda.CfnEventSourceMapping_FilterProperty{Pattern: st.scope.ToJsonString(pattern, nil)}
	})
}
