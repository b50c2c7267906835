// Package main describes Assay on AWS as an app of the AWS CDK. Each family of resources is a Lambda function behind one HTTP API, over
// one table and one bucket. The functions have exactly the rights that functions.Deployments declares.
//
// The deployment follows from the declarations of the families. It uses only the CDK's constructs for CloudFormation resources (Cfn...),
// so the template contains exactly the resources in this package. The CDK adds no roles, policies or functions, and nothing costs money
// while nobody calls.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	err := run()
	jsii.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run synthesizes the stack of the stage that the context names. It writes to the folder that the CDK's command line, or CDK_OUTDIR,
// names.
func run() error {
	app := newApp(nil)
	s, err := readSettings(func(key string) any { return app.Node().TryGetContext(&key) })
	if err != nil {
		return err
	}
	if err := newStack(app, s); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}

// newApp creates an app without analytics. If folder is nil, the environment names the output folder.
func newApp(folder *string) awscdk.App {
	return awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false), Outdir: folder})
}
