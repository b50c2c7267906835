package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/functions"
	"assay/shared/lists"
	"assay/shared/metrics"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// alarm is one metric with its threshold.
type alarm struct {
	id, name, about   string
	namespace, metric string // none: a metric of the stack's own, which counts the lines of the access log that match
	lines             string // a pattern of CloudWatch Logs
	dimensions        []any  // none: the metric of all that there is in the account and region
	statistic         string // or a percentile such as p99
	threshold         float64
	below             bool // the alarm is for values below the threshold, and for missing data
	minutes, periods  int
}

func of(dimension string, value *string) awscloudwatch.CfnAlarm_DimensionProperty {
	return awscloudwatch.CfnAlarm_DimensionProperty{Name: &dimension, Value: value}
}

// alarms are few on purpose: CloudWatch watches ten metrics of an account for nothing, however many functions there are, so
// both stages fit. A metric that covers every function is therefore taken where there is one: any fault of a function behind
// the API (errors, time-outs, crashes, being throttled) is a line of the access log or a latency of the API, and what
// functions behind events cannot do becomes old in the stream and then a dead letter.
//
// The metrics of API Gateway and Lambda for errors and throttles also count what is so by design: a flood that is answered 503 by
// a function's limit of concurrency, and batches of the stream that wait for the evaluator. So lines are counted.
func (st *stack) alarms() []alarm {
	evaluator := st.resourceName(functions.Evaluator)
	return []alarm{
		{
			id: "Errors", name: "errors", lines: `{ ($.status = "5*") && ($.functionStatus != "429") }`,
			statistic: "Sum", threshold: 5, minutes: 5, periods: 1,
			about: "Requests were answered with 5xx. The access log names route and request; the function's log says why.",
		},
		{
			id: "Latency", name: "latency", namespace: "AWS/ApiGateway", metric: "Latency", dimensions: []any{of("ApiId", st.gateway.id)},
			statistic: "p99", threshold: 3000, minutes: 5, periods: 3,
			about: "One request in a hundred takes more than 3 seconds. The dashboard shows which function, and whether the table throttles.",
		},
		{
			id: "Throttles", name: "throttles", lines: st.throttledLines(),
			statistic: "Sum", threshold: 0, minutes: 5, periods: 2,
			about: "Functions without a limit of their own were not started: the account's limit of concurrency is reached, which all of its " +
				"functions share.",
		},
		{
			id: "QueueAge", name: "queue-age", namespace: "AWS/Lambda", metric: "IteratorAge", dimensions: []any{of("FunctionName", &evaluator)},
			statistic: "Maximum", threshold: 10 * 60_000, minutes: 5, periods: 2,
			about: "The evaluator is more than 10 minutes behind the table's changes. Its log says whether it fails or has too much to do.",
		},
		{
			id: "DeadLetters", name: "dead-letters", namespace: "AWS/SQS", metric: "ApproximateNumberOfMessagesVisible", dimensions: []any{
				of("QueueName", st.deadLetters.name)},
			statistic: "Maximum", threshold: 0, minutes: 5, periods: 1,
			about: "Events were given up and lie in the queue of dead letters. infra/operate.md says what to do with them.",
		},
	}
}

// limitedRoutes match the routes of functions whose concurrency stages limit, where throttles are by design.
var limitedRoutes = map[string]string{"submissions": "*submissions*", "tools": "*/v1/tools*"}

// throttledLines match the requests for which Lambda did not start a function that has no limit of its own.
func (st *stack) throttledLines() string {
	pattern := `($.functionStatus = "429")`
	for _, name := range slices.Sorted(maps.Keys(limitedRoutes)) {
		if _, limited := st.Concurrency[name]; limited {
			pattern += ` && ($.route != "` + limitedRoutes[name] + `")`
		}
	}
	return "{ " + pattern + " }"
}

// serverAlarms are those of the gRPC server. They are paid for, as the server is.
func (st *stack) serverAlarms() []alarm {
	if st.server == nil {
		return nil
	}
	return []alarm{
		{
			id: "Servers", name: "grpc-servers", namespace: "AWS/NetworkELB", metric: "HealthyHostCount",
			dimensions: []any{of("LoadBalancer", st.server.balancer.name), of("TargetGroup", st.server.balancer.groupName)},
			statistic:  "Maximum", threshold: 1, below: true, minutes: 1, periods: 5,
			about: "No gRPC server has answered for 5 minutes, so that no worker gets work. The service's events say why, and the log of those " +
				"that ended.",
		},
		{
			id: "ServerProcessor", name: "grpc-processor", namespace: "AWS/ECS", metric: "CPUUtilization",
			dimensions: []any{of("ClusterName", st.server.cluster), of("ServiceName", st.server.name)},
			statistic:  "Average", threshold: 80, minutes: 5, periods: 3,
			about: "The gRPC servers use more than 80% of their processors. Give them company with a higher grpcCount.",
		},
	}
}

func (st *stack) addAlarms() {
	topic := awssns.NewCfnTopic(st.scope, jsii.String("Alarms"), &awssns.CfnTopicProps{TopicName: jsii.String(st.resourceName("alarms"))})
	if st.AlarmEmail != "" {
		awssns.NewCfnSubscription(st.scope, jsii.String("AlarmsByEmail"), &awssns.CfnSubscriptionProps{
			TopicArn: topic.Ref(), Protocol: jsii.String("email"), Endpoint: &st.AlarmEmail,
		})
		st.addBudget()
	}
	for _, a := range append(st.alarms(), st.serverAlarms()...) {
		if a.lines != "" {
			a.namespace, a.metric = st.resourceName("requests"), a.id
			one := awslogs.CfnMetricFilter_MetricTransformationProperty{
				MetricNamespace: &a.namespace, MetricName: &a.metric, MetricValue: jsii.String("1"), Unit: jsii.String("Count")}
			awslogs.NewCfnMetricFilter(st.scope, jsii.String(a.id+"Lines"), &awslogs.CfnMetricFilterProps{
				LogGroupName: st.gateway.log, FilterPattern: &a.lines, MetricTransformations: []any{one}})
		}
		props := &awscloudwatch.CfnAlarmProps{
			AlarmName: jsii.String(st.resourceName(a.name)), AlarmDescription: &a.about,
			Namespace: &a.namespace, MetricName: &a.metric,
			Period: jsii.Number(float64(a.minutes * 60)), EvaluationPeriods: jsii.Number(float64(a.periods)),
			ComparisonOperator: jsii.String("GreaterThanThreshold"), Threshold: &a.threshold,
			TreatMissingData: jsii.String("notBreaching"), // nobody calls
			AlarmActions:     &[]any{topic.Ref()}, OkActions: &[]any{topic.Ref()},
		}
		if len(a.dimensions) > 0 {
			props.Dimensions = a.dimensions
		}
		if a.below {
			props.ComparisonOperator = jsii.String("LessThanThreshold")
			props.TreatMissingData = jsii.String("breaching")
		}
		if a.statistic[0] == 'p' {
			// The slowest of ten requests is no percentile: the alarm stays as it is until there are enough.
			props.ExtendedStatistic = &a.statistic
			props.EvaluateLowSampleCountPercentile = jsii.String("ignore")
		} else {
			props.Statistic = &a.statistic
		}
		made := awscloudwatch.NewCfnAlarm(st.scope, jsii.String(a.id+"Alarm"), props)
		if a.below {
			made.AddResourceDependency(st.server.service, nil) // or the alarm would be raised before the service exists
		}
	}
}

// addBudget notifies AlarmEmail when the account, which is all that a budget knows without tags that somebody activates, has nearly
// spent the month's amount, or is about to spend more. AWS looks a few times a day, and asks nothing for it.
func (st *stack) addBudget() {
	var notifications []any
	for _, n := range []struct {
		kind    string
		percent float64
	}{{"ACTUAL", 80}, {"FORECASTED", 100}} {
		notifications = append(notifications, awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: &n.kind, ComparisonOperator: jsii.String("GREATER_THAN"), Threshold: &n.percent,
				ThresholdType: jsii.String("PERCENTAGE")},
			Subscribers: []any{awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: jsii.String("EMAIL"), Address: &st.AlarmEmail}},
		})
	}
	awsbudgets.NewCfnBudget(st.scope, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName: jsii.String(st.resourceName("month")), BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(float64(st.Budget)), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: notifications,
	})
}

// graphMetric is one metric of a graph: namespace, name, the dimensions as name and value in turn, and last its options.
type graphMetric []any

// addDashboard makes one dashboard of at most 50 metrics, of which an account has three for nothing.
func (st *stack) addDashboard() {
	api := func(metric, statistic, label string) graphMetric {
		return graphMetric{"AWS/ApiGateway", metric, "ApiId", st.gateway.id, object{"stat": statistic, "label": label}}
	}
	table := func(metric, label string) graphMetric {
		return graphMetric{"AWS/DynamoDB", metric, "TableName", st.table.name, object{"stat": "Sum", "label": label}}
	}
	evaluator := st.resourceName(functions.Evaluator)
	widgets := []any{
		st.graph(0, 0, "Requests", api("Count", "Sum", "all"), api("4xx", "Sum", "4xx"), api("5xx", "Sum", "5xx")),
		st.graph(8, 0, "Latency of requests (ms)", api("Latency", "p99", "p99"),
			api("IntegrationLatency", "p99", "p99 of the functions")),
		st.graph(16, 0, "Evaluation",
			graphMetric{"AWS/Lambda", "IteratorAge", "FunctionName", evaluator, object{"stat": "Maximum", "label": "age of the oldest change (ms)"}},
			graphMetric{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", st.deadLetters.name, object{
				"stat": "Maximum", "label": "dead letters"}}),
		st.graph(0, 6, "Errors of functions", st.eachFunction("Errors", "Sum")...),
		st.graph(8, 6, "Duration of functions, p99 (ms)", st.eachFunction("Duration", "p99")...),
		st.graph(16, 6, "Throttles of functions",
			graphMetric{"AWS/Lambda", "Throttles", object{"stat": "Sum", "label": "of all in the account and region"}}),
		st.graph(0, 12, "Capacity of the table", table("ConsumedReadCapacityUnits", "read units"),
			table("ConsumedWriteCapacityUnits", "write units")),
		st.graph(8, 12, "Throttles of the table", table("ReadThrottleEvents", "reads"), table("WriteThrottleEvents", "writes")),
	}
	for i, m := range []*metrics.Metric{metrics.RunsWaiting, metrics.RunsEnded, metrics.QuotaRefusals} {
		widgets = append(widgets, st.graph(8*i, 18, m.CloudWatch, st.search(m)))
	}
	if st.server != nil {
		service := func(metric, statistic, label string) graphMetric {
			return graphMetric{"AWS/ECS", metric, "ClusterName", st.server.cluster, "ServiceName", st.server.name, object{
				"stat": statistic, "label": label}}
		}
		widgets = append(widgets, st.graph(16, 12, "gRPC servers (%)", service("CPUUtilization", "Maximum", "processor"),
			service("MemoryUtilization", "Maximum", "memory")))
	}
	awscloudwatch.NewCfnDashboard(st.scope, jsii.String("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: jsii.String(st.resourceName("dashboard")), DashboardBody: st.scope.ToJsonString(object{"widgets": widgets}, nil),
	})
}

// search finds all series of a metric that functions and servers write into their logs.
func (st *stack) search(m *metrics.Metric) graphMetric {
	statistic := "Sum"
	if m.Kind == metrics.Gauge {
		statistic = "Maximum"
	}
	return graphMetric{object{"expression": fmt.Sprintf(`SEARCH('{%s,table,%s} MetricName=%q table=%q', '%s')`, metrics.Namespace,
		strings.Join(m.Labels, ","), m.CloudWatch, *st.table.name, statistic)}}
}

func (st *stack) eachFunction(metric, statistic string) []graphMetric {
	return lists.Map(functions.Deployments(), func(d functions.Deployment) graphMetric {
		return graphMetric{"AWS/Lambda", metric, "FunctionName", st.resourceName(d.Name), object{"stat": statistic, "label": d.Name}}
	})
}

// graph is a graph of a third of the width, at a place in a grid of 24 columns.
func (st *stack) graph(x, y int, title string, lines ...graphMetric) object {
	return object{
		"type": "metric", "x": x, "y": y, "width": 8, "height": 6,
		"properties": object{"title": title, "metrics": lines, "region": awscdk.Aws_REGION(), "view": "timeSeries", "period": 300},
	}
}
