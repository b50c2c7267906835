package main

import (
	"path/filepath"
	"strings"

	"assay/functions"
	"assay/shared/config"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/jsii-runtime-go"
)

// function is a function that others refer to.
type function struct {
	id       string // of its resources, as a prefix
	ref, arn *string
}

// addFunction makes a function with a role and a log of its own.
func (st *stack) addFunction(d functions.Deployment) *function {
	id := strings.ToUpper(d.Name[:1]) + d.Name[1:]
	name := st.resourceName(d.Name)
	logs := st.addLog(id+"Log", "/aws/lambda/"+name)
	role := st.addRole(id+"Role", "What the function "+name+" may do", assumedBy("lambda.amazonaws.com", nil), d.Name,
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

// addLog makes a log, which goes with the stack.
func (st *stack) addLog(id, name string) awslogs.CfnLogGroup {
	logs := awslogs.NewCfnLogGroup(st.scope, &id, &awslogs.CfnLogGroupProps{
		LogGroupName: &name, RetentionInDays: jsii.Number(float64(st.LogDays))})
	logs.ApplyRemovalPolicy(awscdk.RemovalPolicy_DESTROY, nil)
	return logs
}

// environment is what a function, or the gRPC server, learns of the deployment.
func (st *stack) environment(d functions.Deployment) map[string]*string {
	e := map[string]*string{config.BucketVariable: st.bucketName()}
	if d.ReadsTable {
		e[config.TableVariable] = st.table.name
	}
	if st.Quotas != "" {
		e[config.QuotasVariable] = &st.Quotas
	}
	if d.Name == functions.Evaluator {
		e[config.ScheduleGroupVariable] = jsii.String(st.resourceName("due"))
		e[config.ScheduleRoleVariable] = st.arnOfSchedules()
		e[config.ScheduleTargetVariable] = st.arn("lambda", "function:"+st.resourceName(d.Name))
		e[config.DeadLettersVariable] = st.deadLetters.arn
		return e
	}
	e[config.IssuerVariable], e[config.AudienceVariable] = st.issuer.url, st.issuer.audience
	if len(d.Operations) > 0 {
		e[config.OriginsVariable] = jsii.String(strings.Join(st.Origins, ","))
	}
	return e
}
