package main

import (
	"assay/functions"
	"assay/shared/lists"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// line is one metric of a graph: namespace, name, the dimensions as name and value in turn, and last its options.
type line []any

// addDashboard makes one dashboard of at most 50 metrics, of which an account has three for nothing.
func (st *stack) addDashboard() {
	api := func(metric, statistic, label string) line {
		return line{"AWS/ApiGateway", metric, "ApiId", st.gateway.id, object{"stat": statistic, "label": label}}
	}
	table := func(metric, label string) line {
		return line{"AWS/DynamoDB", metric, "TableName", st.table.name, object{"stat": "Sum", "label": label}}
	}
	evaluator := st.resourceName(functions.Evaluator)
	widgets := []any{
		st.graph(0, 0, "Requests", api("Count", "Sum", "all"), api("4xx", "Sum", "4xx"), api("5xx", "Sum", "5xx")),
		st.graph(8, 0, "Latency of requests (ms)", api("Latency", "p50", "p50"), api("Latency", "p99", "p99"),
			api("IntegrationLatency", "p99", "p99 of the functions")),
		st.graph(16, 0, "Evaluation",
			line{"AWS/Lambda", "IteratorAge", "FunctionName", evaluator, object{"stat": "Maximum", "label": "age of the oldest change (ms)"}},
			line{"AWS/Lambda", "ConcurrentExecutions", "FunctionName", evaluator, object{"stat": "Maximum", "label": "instances"}},
			line{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", st.deadLetters.name, object{
				"stat": "Maximum", "label": "dead letters"}}),
		st.graph(0, 6, "Errors of functions", st.eachFunction("Errors", "Sum")...),
		st.graph(8, 6, "Duration of functions, p99 (ms)", st.eachFunction("Duration", "p99")...),
		st.graph(16, 6, "Throttles of functions",
			line{"AWS/Lambda", "Throttles", object{"stat": "Sum", "label": "of all in the account and region"}}),
		st.graph(0, 12, "Capacity of the table", table("ConsumedReadCapacityUnits", "read units"),
			table("ConsumedWriteCapacityUnits", "write units")),
		st.graph(8, 12, "Throttles of the table", table("ReadThrottleEvents", "reads"), table("WriteThrottleEvents", "writes")),
	}
	if st.server != nil {
		service := func(metric, statistic, label string) line {
			return line{"AWS/ECS", metric, "ClusterName", st.server.cluster, "ServiceName", st.server.name, object{
				"stat": statistic, "label": label}}
		}
		widgets = append(widgets, st.graph(16, 12, "gRPC servers (%)", service("CPUUtilization", "Maximum", "processor"),
			service("MemoryUtilization", "Maximum", "memory")))
	}
	awscloudwatch.NewCfnDashboard(st.scope, jsii.String("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: jsii.String(st.resourceName("dashboard")), DashboardBody: st.scope.ToJsonString(object{"widgets": widgets}, nil),
	})
}

func (st *stack) eachFunction(metric, statistic string) []line {
	return lists.Map(functions.Deployments(), func(d functions.Deployment) line {
		return line{"AWS/Lambda", metric, "FunctionName", st.resourceName(d.Name), object{"stat": statistic, "label": d.Name}}
	})
}

// graph is a graph of a third of the width, at a place in a grid of 24 columns.
func (st *stack) graph(x, y int, title string, lines ...line) object {
	return object{
		"type": "metric", "x": x, "y": y, "width": 8, "height": 6,
		"properties": object{"title": title, "metrics": lines, "region": awscdk.Aws_REGION(), "view": "timeSeries", "period": 300},
	}
}
