// Package main describes Assay on AWS as an app of the AWS CDK: each family of resources a function of its own behind one
// HTTP API, over one table and one bucket, with the rights that functions.Deployments writes down and nothing else.
//
// What is deployed follows from what the families declare. Constructs are those of CloudFormation itself, so that the
// template holds what stands here: no role, policy or function that the CDK adds by itself, and nothing that is paid for
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

// run synthesizes the stack of the stage that the context names, into the folder that the CDK's command line asks for, or
// into the one that CDK_OUTDIR names.
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

// newApp makes an app without analytics. A nil folder leaves the output folder to the environment.
func newApp(folder *string) awscdk.App {
	return awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false), Outdir: folder})
}
