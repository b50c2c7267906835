package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/functions"
	"assay/shared/language/lists"
	"assay/shared/language/metrics"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// alarm is a metric with a threshold.
type alarm struct {
	id, name, about   string
	namespace, metric string // empty: a metric of the stack that counts matching lines of the access log
	lines             string // a filter pattern of CloudWatch Logs
	dimensions        []any  // empty: the metric of the whole account and region
	statistic         string // or a percentile such as p99
	threshold         float64
	below             bool // the alarm is raised for values below the threshold, and for missing data
	minutes, periods  int
}

func of(dimension string, value *string) awscloudwatch.CfnAlarm_DimensionProperty {
	return awscloudwatch.CfnAlarm_DimensionProperty{Name: &dimension, Value: value}
}

// alarms returns few alarms on purpose. CloudWatch monitors ten metrics of an account for free, and both stages together stay below
// that. So alarms prefer metrics that cover every function. Any fault of a function behind the API (error, timeout, crash, throttle) is
// a line of the access log or a latency of the API. The failures of functions behind events raise the age of the stream, and later
// become dead letters.
//
// The alarms count lines of the access log, because the error and throttle metrics of API Gateway and Lambda include intended refusals:
// floods that a function's concurrency limit answers with 503, and batches of the stream that wait for the function background.
func (st *stack) alarms() []alarm {
	background := st.resourceName(functions.Background)
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
			id: "QueueAge", name: "queue-age", namespace: "AWS/Lambda", metric: "IteratorAge", dimensions: []any{of("FunctionName", &background)},
			statistic: "Maximum", threshold: 10 * 60_000, minutes: 5, periods: 2,
			about: "The function background is over 10 minutes behind the table's changes. Its log says whether it fails or has too much to do.",
		},
		{
			id: "DeadLetters", name: "dead-letters", namespace: "AWS/SQS", metric: "ApproximateNumberOfMessagesVisible", dimensions: []any{
				of("QueueName", st.deadLetters.name)},
			statistic: "Maximum", threshold: 0, minutes: 5, periods: 1,
			about: "Events were given up and lie in the queue of dead letters. infra/operate.md says what to do with them.",
		},
	}
}

// limitedRoutes has patterns for the routes of functions with limited concurrency, where throttles are intended.
var limitedRoutes = map[string]string{"submissions": "*submissions*", "tools": "*/v1/tools*"}

// throttledLines returns a pattern for requests for which Lambda did not start a function without a limit of its own.
func (st *stack) throttledLines() string {
	pattern := `($.functionStatus = "429")`
	for _, name := range slices.Sorted(maps.Keys(limitedRoutes)) {
		if _, limited := st.Concurrency[name]; limited {
			pattern += ` && ($.route != "` + limitedRoutes[name] + `")`
		}
	}
	return "{ " + pattern + " }"
}

// serverAlarms returns the alarms of the gRPC server. Like the server, they cost money.
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
			TreatMissingData: jsii.String("notBreaching"), // there is no data while nobody calls
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
			// With few samples a percentile is meaningless, so the alarm keeps its state until there are enough.
			props.ExtendedStatistic = &a.statistic
			props.EvaluateLowSampleCountPercentile = jsii.String("ignore")
		} else {
			props.Statistic = &a.statistic
		}
		made := awscloudwatch.NewCfnAlarm(st.scope, jsii.String(a.id+"Alarm"), props)
		if a.below {
			made.AddResourceDependency(st.server.service, nil) // otherwise the alarm would be raised before the service exists
		}
	}
}

// addBudget notifies AlarmEmail when the account has spent most of the month's amount, or is forecast to exceed it. The budget covers
// the whole account, because a budget for a stack would need activated cost allocation tags. AWS checks a few times a day, free of
// charge.
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

// graphMetric is one metric of a graph: namespace, name, alternating names and values of dimensions, and options.
type graphMetric []any

// addDashboard creates a dashboard of at most 50 metrics. An account has three such dashboards free of charge.
func (st *stack) addDashboard() {
	api := func(metric, statistic, label string) graphMetric {
		return graphMetric{"AWS/ApiGateway", metric, "ApiId", st.gateway.id, object{"stat": statistic, "label": label}}
	}
	table := func(metric, label string) graphMetric {
		return graphMetric{"AWS/DynamoDB", metric, "TableName", st.table.name, object{"stat": "Sum", "label": label}}
	}
	background := st.resourceName(functions.Background)
	widgets := []any{
		st.graph(0, 0, "Requests", api("Count", "Sum", "all"), api("4xx", "Sum", "4xx"), api("5xx", "Sum", "5xx")),
		st.graph(8, 0, "Latency of requests (ms)", api("Latency", "p99", "p99"),
			api("IntegrationLatency", "p99", "p99 of the functions")),
		st.graph(16, 0, "Evaluation",
			graphMetric{"AWS/Lambda", "IteratorAge", "FunctionName", background,
				object{"stat": "Maximum", "label": "age of the oldest change (ms)"}},
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
	for i, m := range []*metrics.Metric{metrics.RunsWaiting, metrics.RunsEnded, metrics.QuotaRefusals, metrics.FilesFailures} {
		widgets = append(widgets, st.graph(8*(i%3), 18+6*(i/3), m.CloudWatch, st.search(m)))
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

// search returns an expression for all series of a metric that functions and servers write into their logs.
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

// graph returns a graph with a third of the dashboard's width, at a place in a grid of 24 columns.
func (st *stack) graph(x, y int, title string, lines ...graphMetric) object {
	return object{
		"type": "metric", "x": x, "y": y, "width": 8, "height": 6,
		"properties": object{"title": title, "metrics": lines, "region": awscdk.Aws_REGION(), "view": "timeSeries", "period": 300},
	}
}
