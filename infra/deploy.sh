#!/bin/sh
# Bootstraps the account for the CDK and deploys a stage, without a terminal: npm run deploy --prefix infra -- -c stage=prod
#
# What is protected from deletion can't be rolled back. So a stack that was never complete is made without protection, and gets it
# when it is: a first deployment that fails can be repeated as it is.
set -eu
PATH="$PWD/node_modules/.bin:$PATH"
stack=$(cdk list --ci=false --no-notices "$@") # its name, and nothing else of what the CDK prints in a pipeline
cdk bootstrap
complete=$(aws cloudformation list-stacks --output json --query "length(StackSummaries[?StackName=='$stack' &&
	(StackStatus=='CREATE_COMPLETE' || starts_with(StackStatus, 'UPDATE_') || starts_with(StackStatus, 'IMPORT_'))])")
if [ "$complete" = 0 ]; then
	cdk deploy "$@" -c protect=false
fi
# A build must not write into a table whose records have another form. The first check names the form of the empty table.
table=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
	--query "Stacks[0].Outputs[?OutputKey=='TableName'].OutputValue")
(cd .. && go run ./local check -store dynamodb -table "$table")
cdk deploy "$@"
