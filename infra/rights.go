package main

import (
	"slices"

	"assay/functions"
	"assay/shared/service/files"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// rights returns everything that a function may do, action by action. The rights follow from functions.Deployment, which declares what a
// function uses.
func (st *stack) rights(d functions.Deployment, log *string) []any {
	list := slices.Concat([]any{allow("Log", []string{"logs:CreateLogStream", "logs:PutLogEvents"}, log)}, st.tableRights(d), st.fileRights(d))
	if d.ByEvents() {
		list = append(list, st.eventRights(d)...)
	}
	if st.Tracing {
		// X-Ray offers no narrower resource.
		list = append(list, allow("Trace", []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, jsii.String("*")))
	}
	return list
}

func (st *stack) tableRights(d functions.Deployment) []any {
	list := []any{
		allow("ReadTable", []string{"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"}, st.table.arn),
		allow("ReadIndexes", []string{"dynamodb:Query"}, st.table.indexes()),
	}
	if d.Writes() {
		// A transaction needs the rights of its parts. Items are put or deleted as a whole, never updated in place.
		list = append(list, allow("WriteTable", []string{"dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem"}, st.table.arn))
	}
	return list
}

// fileRights returns the rights on the bucket, by prefix.
func (st *stack) fileRights(d functions.Deployment) []any {
	var list []any
	for _, right := range []struct {
		name, action string
		given        func(functions.FileRights) bool
	}{
		{"GetFiles", "s3:GetObject", func(f functions.FileRights) bool { return f.Get }},
		{"PutFiles", "s3:PutObject", func(f functions.FileRights) bool { return f.Put }},
		{"DeleteFiles", "s3:DeleteObject", func(f functions.FileRights) bool { return f.Delete }},
	} {
		var prefixes []*string
		for _, f := range d.Files {
			if right.given(f) {
				prefixes = append(prefixes, st.objects("/"+string(f.Holder)+"/*"))
			}
		}
		if d.ReadsClaim && right.action == "s3:GetObject" {
			prefixes = append(prefixes, st.objects("/"+files.ClaimKey))
		}
		if len(prefixes) > 0 {
			list = append(list, allow(right.name, []string{right.action}, prefixes...))
		}
	}
	if d.ListsFiles {
		list = append(list, allow("ListFiles", []string{"s3:ListBucket"}, st.objects("")))
	}
	return list
}

// eventRights returns the rights of functions that events invoke: to send dead letters, to create schedules for due work, to read the
// stream, and to send e-mails.
func (st *stack) eventRights(d functions.Deployment) []any {
	passRole := allow("PassScheduleRole", []string{"iam:PassRole"}, st.arnOfSchedules())
	passRole["Condition"] = object{"StringEquals": object{"iam:PassedToService": "scheduler.amazonaws.com"}}
	list := []any{
		allow("SendToDeadLetters", []string{"sqs:SendMessage"}, st.deadLetters.arn),
		allow("Schedule", []string{"scheduler:CreateSchedule"}, st.arn("scheduler", "schedule/"+st.resourceName("due")+"/*")),
		passRole,
	}
	if d.SendsMail && st.MailIdentity != "" {
		list = append(list, allow("SendMail", []string{"ses:SendEmail", "ses:SendRawEmail"}, &st.MailIdentity))
	}
	if d.Name != functions.Uploads {
		list = append(list, allow("ReadStream", []string{
			"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}, st.table.stream))
	}
	return list
}

// arnOfSchedules returns the ARN of the role that schedules assume. The role may not exist yet.
func (st *stack) arnOfSchedules() *string {
	return awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:iam::${AWS::AccountId}:role/"+st.schedulesRole()), nil)
}

// addRole creates a role with the statements in a policy with the name.
func (st *stack) addRole(id, about string, trust object, name string, statements ...any) awsiam.CfnRole {
	return awsiam.NewCfnRole(st.scope, &id, &awsiam.CfnRoleProps{
		AssumeRolePolicyDocument: trust, Description: &about,
		Policies: []any{awsiam.CfnRole_PolicyProperty{PolicyName: &name, PolicyDocument: policy(statements...)}},
	})
}

func policy(statements ...any) object {
	return object{"Version": "2012-10-17", "Statement": statements}
}

func allow(sid string, actions []string, resources ...*string) object {
	return object{"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
}

// trustPolicy lets a service of AWS assume a role under conditions.
func trustPolicy(service string, conditions object) object {
	statement := object{"Effect": "Allow", "Principal": object{"Service": service}, "Action": "sts:AssumeRole"}
	if conditions != nil {
		statement["Condition"] = conditions
	}
	return policy(statement)
}
