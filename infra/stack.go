package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/language/lists"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// stack is the stack under construction, with the created parts that later ones refer to.
type stack struct {
	scope awscdk.Stack
	settings

	table       table
	issuer      issuer
	deadLetters deadLetters
	gateway     gateway
	server      *server // nil without the gRPC server
}

// newStack describes one stage. It creates resources before others that refer to them.
func newStack(app awscdk.App, s settings) error {
	binaries := lists.Map(functions.Deployments(), func(d functions.Deployment) string {
		return filepath.Join(s.Binaries, d.Name, "bootstrap")
	})
	if err := findBuilt("lambda", binaries...); err != nil {
		return err
	}
	if s.GRPC.On {
		if err := findBuilt("containers", filepath.Join(s.GRPC.Images, "bin", "container", "arm64", "assay-grpc")); err != nil {
			return err
		}
	}
	name := "assay-" + s.Name
	st := &stack{settings: s, scope: awscdk.NewStack(app, &name, &awscdk.StackProps{
		StackName:             &name,
		Description:           jsii.String("Assay, a platform for shared tasks (stage " + s.Name + ")"),
		TerminationProtection: jsii.Bool(s.protects()),
		Tags:                  &map[string]*string{"application": jsii.String("assay"), "stage": &s.Name},
	})}
	st.table = st.addTable()
	st.deadLetters = st.addDeadLetters()
	st.addSchedules()
	st.gateway = st.addAPI()
	st.issuer = st.addIssuer()
	for _, d := range functions.Deployments() {
		f := st.addFunction(d)
		switch d.Name {
		case functions.Background:
			st.addStream(f, object{"prefix": record.QueuePartition("")}, object{"prefix": record.DuePrefix})
		case functions.Notifier:
			st.addStream(f, object{"prefix": record.OutboxPartition})
		case functions.Uploads:
			st.addBucket(f, st.addUploads(f))
		default:
			st.addRoutes(f, d)
		}
	}
	if st.GRPC.On {
		st.server = st.addServer()
	}
	st.addAlarms()
	st.addDashboard()
	st.addOutputs()
	return nil
}

// findBuilt returns an error with the files that the make target has not built. Otherwise an empty folder would be deployed as a function.
func findBuilt(target string, paths ...string) error {
	missing := slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	})
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s missing: run \"make %s\" in the root of the repository first", strings.Join(missing, ", "), target)
}

// resourceName returns the name of a resource of the stack, which other resources may refer to before it exists.
func (st *stack) resourceName(what string) string { return "assay-" + st.Name + "-" + what }

// arn returns the ARN of a resource in this account and region.
func (st *stack) arn(service, resource string) *string {
	return awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:"+service+":${AWS::Region}:${AWS::AccountId}:"+resource), nil)
}

// retainData keeps a resource with data after the deletion of the stack, in stages that retain data.
func (st *stack) retainData(r awscdk.CfnResource) {
	policy := awscdk.RemovalPolicy_DESTROY
	if st.RetainsData {
		policy = awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE // does not keep new resources of a failed deployment
	}
	r.ApplyRemovalPolicy(policy, nil)
}

// object is a JSON object whose values may refer to resources.
type object = map[string]any

func (st *stack) addOutputs() {
	url := func(parts ...string) *string { return awscdk.Fn_Join(jsii.String(""), jsii.Strings(parts...)) }
	st.output("ApiUrl", "Where the API is", st.gateway.url)
	st.output("DocsUrl", "Where it is described", url(*st.gateway.url, "/docs"))
	st.output("Issuer", "Whose tokens it trusts", st.issuer.url)
	st.output("Audience", "Whom they must be meant for; with a Cognito user pool also the client id", st.issuer.audience)
	if st.issuer.clientID != nil {
		st.output("ConsoleUrl", "Where people sign in, take part and organize", st.console())
	}
	st.output("TableName", "Table that the functions work on", st.table.name)
	st.output("BucketName", "Bucket with the files", st.bucketName())
	st.output("DeadLettersUrl", "Queue of events that were given up", st.deadLetters.url)
	console := "https://" + *awscdk.Aws_REGION() + ".console.aws.amazon.com/cloudwatch/home?region=" + *awscdk.Aws_REGION()
	st.output("DashboardUrl", "Graphs of all that", url(console, "#dashboards/dashboard/", st.resourceName("dashboard")))
}

func (st *stack) output(id, about string, value *string) {
	awscdk.NewCfnOutput(st.scope, &id, &awscdk.CfnOutputProps{Description: &about, Value: value})
}
