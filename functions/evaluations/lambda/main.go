// Command lambda is the function of the family evaluations.
package main

import (
	"os"

	"assay/functions/evaluations"
	"assay/shared/blob/s3"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, evaluations.Operations, dynamo.New(awsconfig.Table(&env)), s3.New(awsconfig.Bucket(&env))))
}
