package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// addOutputs adds what was deployed, and where it is.
func (st *stack) addOutputs() {
	url := func(parts ...string) *string { return awscdk.Fn_Join(jsii.String(""), jsii.Strings(parts...)) }
	st.output("ApiUrl", "Where the API is", st.gateway.url)
	st.output("DocsUrl", "Where it is described", url(*st.gateway.url, "/docs"))
	st.output("Issuer", "Whose tokens it trusts", st.issuer.url)
	st.output("Audience", "Whom they must be meant for; with a Cognito user pool also the client id", st.issuer.audience)
	if st.issuer.signIn != nil {
		st.output("SignInUrl", "Where people sign up and in", st.issuer.signIn)
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
