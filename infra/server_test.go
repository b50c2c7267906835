package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/functions"
)

// TestTheServerIsAskedFor holds that the rest of the stack is the same with the gRPC server and without, so that it comes and
// goes without touching anything.
func TestTheServerIsAskedFor(t *testing.T) {
	added := map[string]int{}
	for id, r := range withServer.Resources {
		was, there := prod.Resources[id]
		switch {
		case !there:
			added[r.Type]++
		case r.Type != "AWS::CloudWatch::Dashboard" && compact(r.Properties) != compact(was.Properties):
			t.Errorf("%s changes with the server", id)
		}
	}
	want := map[string]int{
		"AWS::CloudWatch::Alarm": 2, "AWS::EC2::InternetGateway": 1, "AWS::EC2::Route": 1, "AWS::EC2::RouteTable": 1, "AWS::EC2::SecurityGroup": 2,
		"AWS::EC2::Subnet": 2, "AWS::EC2::SubnetRouteTableAssociation": 2, "AWS::EC2::VPC": 1, "AWS::EC2::VPCEndpoint": 2, "AWS::EC2::VPCGatewayAttachment": 1,
		"AWS::ECS::Cluster": 1, "AWS::ECS::Service": 1, "AWS::ECS::TaskDefinition": 1,
		"AWS::ElasticLoadBalancingV2::Listener": 1, "AWS::ElasticLoadBalancingV2::LoadBalancer": 1, "AWS::ElasticLoadBalancingV2::TargetGroup": 1,
		"AWS::IAM::Role": 2, "AWS::Logs::LogGroup": 1,
	}
	if !maps.Equal(added, want) {
		t.Errorf("with the server come\n%v, want\n%v", added, want)
	}
	for id := range prod.Resources {
		if _, there := withServer.Resources[id]; !there {
			t.Errorf("%s goes with the server", id)
		}
	}
}

func TestTheServerRunsTheImage(t *testing.T) {
	task := withServer.one(t, "AWS::ECS::TaskDefinition")
	const c = "ContainerDefinitions.0."
	holds(t, task, map[string]string{
		"Cpu": `"256"`, "Memory": `"512"`, "NetworkMode": `"awsvpc"`, "RequiresCompatibilities": `["FARGATE"]`,
		"RuntimePlatform":              `{"CpuArchitecture":"ARM64","OperatingSystemFamily":"LINUX"}`,
		"TaskRoleArn":                  `{"Fn::GetAtt":["ServerRole","Arn"]}`,
		"ExecutionRoleArn":             `{"Fn::GetAtt":["ServerStarterRole","Arn"]}`,
		"ContainerDefinitions.1":       "null",
		c + "PortMappings":             `[{"ContainerPort":50052,"Protocol":"tcp"}]`,
		c + "User":                     `"65532:65532"`,
		c + "ReadonlyRootFilesystem":   "true",
		c + "HealthCheck.Command":      `["CMD","/assay-grpc","-check"]`,
		c + "StopTimeout":              fmt.Sprint(stopTime),
		c + "LogConfiguration.Options": `{"awslogs-group":{"Ref":"ServerLog"},"awslogs-region":{"Ref":"AWS::Region"},"awslogs-stream-prefix":"grpc","max-buffer-size":"4m","mode":"non-blocking"}`,
		c + "Environment": `[{"Name":"ASSAY_AUDIENCE","Value":{"Ref":"SignInClient"}},` +
			`{"Name":"ASSAY_BUCKET","Value":{"Fn::Sub":"assay-prod-${AWS::AccountId}-${AWS::Region}"}},` +
			`{"Name":"ASSAY_ISSUER","Value":{"Fn::Join":["",["https://",{"Fn::GetAtt":["Users","ProviderName"]}]]}},` +
			`{"Name":"ASSAY_TABLE","Value":{"Ref":"Table"}},{"Name":"AWS_REGION","Value":{"Ref":"AWS::Region"}}]`,
	})
	if image := task.at(c + "Image.Fn::Sub"); !strings.Contains(image, "container-assets-") {
		t.Errorf("the image is %s", image)
	}
	holds(t, withServer.Resources["ServerLog"], map[string]string{"RetentionInDays": "90", "LogGroupName": `"/aws/ecs/assay-prod-grpc"`})
	if d := functions.GRPC(); d.MemoryMB != 512 {
		t.Errorf("Fargate has no %d MB with a quarter of a processor", d.MemoryMB)
	}
}

// TestADeploymentReplacesServersOneByOne holds that there is always one that answers, and that one that won't start is taken back.
func TestADeploymentReplacesServersOneByOne(t *testing.T) {
	service := withServer.one(t, "AWS::ECS::Service")
	holds(t, service, map[string]string{
		"DesiredCount": "2", "LaunchType": `"FARGATE"`,
		"DeploymentConfiguration":        `{"DeploymentCircuitBreaker":{"Enable":true,"Rollback":true},"MaximumPercent":200,"MinimumHealthyPercent":100}`,
		"LoadBalancers.0.TargetGroupArn": `{"Ref":"Servers"}`, "LoadBalancers.0.ContainerPort": "50052", "LoadBalancers.0.ContainerName": `"grpc"`,
		"NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp": `"ENABLED"`,
		"NetworkConfiguration.AwsvpcConfiguration.SecurityGroups": `[{"Fn::GetAtt":["ServerSecurity","GroupId"]}]`,
	})
	for _, first := range []string{"BalancerListener", "NetworkRouteOut", "Subnet1Routes", "Subnet2Routes"} {
		if !slices.Contains(service.DependsOn, first) {
			t.Errorf("the service does not wait for %s", first)
		}
	}
}

func TestTheBalancerEndsTLSAndPassesOnHTTP2(t *testing.T) {
	holds(t, withServer.one(t, "AWS::ElasticLoadBalancingV2::Listener"), map[string]string{
		"Port": "50052", "Protocol": `"TLS"`, "AlpnPolicy": `["HTTP2Only"]`, "SslPolicy": `"ELBSecurityPolicy-TLS13-1-2-2021-06"`,
		"Certificates": `[{"CertificateArn":"arn:aws:acm:eu-central-1:123456789012:certificate/two"}]`, "DefaultActions": `[{"TargetGroupArn":{"Ref":"Servers"},"Type":"forward"}]`,
	})
	holds(t, withServer.one(t, "AWS::ElasticLoadBalancingV2::TargetGroup"), map[string]string{
		"Protocol": `"TCP"`, "Port": "50052", "TargetType": `"ip"`, "HealthCheckProtocol": `"TCP"`,
		"TargetGroupAttributes": `[{"Key":"deregistration_delay.timeout_seconds","Value":"60"},{"Key":"preserve_client_ip.enabled","Value":"false"}]`,
	})
	holds(t, withServer.one(t, "AWS::ElasticLoadBalancingV2::LoadBalancer"), map[string]string{
		"Type": `"network"`, "Scheme": `"internet-facing"`, "Subnets": `[{"Ref":"Subnet1"},{"Ref":"Subnet2"}]`,
		"SecurityGroups":         `[{"Fn::GetAtt":["BalancerSecurity","GroupId"]}]`,
		"LoadBalancerAttributes": `[{"Key":"load_balancing.cross_zone.enabled","Value":"true"}]`,
	})
	if _, ok := withServer.Outputs["GrpcTarget"]; !ok {
		t.Error("nobody is told where the server's name must lead")
	}
}

func TestOnlyTheBalancerReachesTheServer(t *testing.T) {
	holds(t, withServer.Resources["ServerSecurity"], map[string]string{
		"SecurityGroupIngress": `[{"Description":"Load balancer","FromPort":50052,"IpProtocol":"tcp","SourceSecurityGroupId":{"Fn::GetAtt":["BalancerSecurity","GroupId"]},"ToPort":50052}]`,
		"SecurityGroupEgress":  `[{"CidrIp":"0.0.0.0/0","Description":"AWS and the issuer of tokens","FromPort":443,"IpProtocol":"tcp","ToPort":443}]`,
	})
	holds(t, withServer.Resources["BalancerSecurity"], map[string]string{
		"SecurityGroupIngress.0.FromPort": "50052", "SecurityGroupIngress.1": "null",
		"SecurityGroupEgress": `[{"CidrIp":"10.52.0.0/24","Description":"Servers","FromPort":50052,"IpProtocol":"tcp","ToPort":50052}]`,
	})
	for issuer, want := range map[string][]float64{"": {443}, "https://login.example": {443}, "https://login.example:443/": {443}, "https://login.example:8443/realm": {443, 8443}} {
		st := &stack{settings: settings{Issuer: issuer}}
		if got := st.portsOut(); !slices.Equal(got, want) {
			t.Errorf("an issuer at %q is reached through %v", issuer, got)
		}
	}
}

func TestTheServerMayDoExactlyWhatIsWrittenDown(t *testing.T) {
	const (
		table   = `{"Fn::GetAtt":["Table","Arn"]}`
		indexes = `{"Fn::Join":["",[{"Fn::GetAtt":["Table","Arn"]},"/index/*"]]}`
		log     = `{"Fn::GetAtt":["ServerLog","Arn"]}`
	)
	want := map[string][]string{
		"dynamodb:GetItem": {table}, "dynamodb:BatchGetItem": {table}, "dynamodb:Query": {table, indexes},
		"dynamodb:PutItem": {table}, "dynamodb:DeleteItem": {table}, "dynamodb:ConditionCheckItem": {table},
		// Without it S3 answers 403, and not 404, for an output that has not come yet.
		"s3:ListBucket": {`{"Fn::Sub":"arn:${AWS::Partition}:s3:::assay-prod-${AWS::AccountId}-${AWS::Region}"}`},
	}
	for _, f := range functions.GRPC().Files {
		for action, given := range map[string]bool{"s3:GetObject": f.Get, "s3:PutObject": f.Put, "s3:DeleteObject": f.Delete} {
			if given {
				want[action] = append(want[action], `{"Fn::Sub":"arn:${AWS::Partition}:s3:::assay-prod-${AWS::AccountId}-${AWS::Region}/`+string(f.Holder)+`/*"}`)
			}
		}
	}
	if got := rightsOf(t, withServer, "ServerRole"); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the server may %s\nwant %s", compact(got), compact(want))
	}
	starter := rightsOf(t, withServer, "ServerStarterRole")
	if got := slices.Sorted(maps.Keys(starter)); !slices.Equal(got, []string{
		"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetAuthorizationToken", "ecr:GetDownloadUrlForLayer", "logs:CreateLogStream", "logs:PutLogEvents",
	}) || !slices.Equal(starter["logs:PutLogEvents"], []string{log}) {
		t.Errorf("what starts the server may %s", compact(starter))
	}
	for _, id := range []string{"ServerRole", "ServerStarterRole"} {
		holds(t, withServer.Resources[id], map[string]string{
			"AssumeRolePolicyDocument.Statement.0.Principal.Service":                        `"ecs-tasks.amazonaws.com"`,
			"AssumeRolePolicyDocument.Statement.0.Condition.StringEquals.aws:SourceAccount": `{"Ref":"AWS::AccountId"}`,
			"AssumeRolePolicyDocument.Statement.0.Condition.ArnLike.aws:SourceArn.Fn::Sub":  `"arn:${AWS::Partition}:ecs:${AWS::Region}:${AWS::AccountId}:*"`,
		})
	}
}

func TestTheServerIsWatched(t *testing.T) {
	holds(t, withServer.Resources["ServersAlarm"], map[string]string{
		"Namespace": `"AWS/NetworkELB"`, "MetricName": `"HealthyHostCount"`, "Statistic": `"Maximum"`, "ComparisonOperator": `"LessThanThreshold"`, "Threshold": "1",
		"TreatMissingData": `"breaching"`, "AlarmActions": `[{"Ref":"Alarms"}]`,
		"Dimensions": `[{"Name":"LoadBalancer","Value":{"Fn::GetAtt":["Balancer","LoadBalancerFullName"]}},{"Name":"TargetGroup","Value":{"Fn::GetAtt":["Servers","TargetGroupFullName"]}}]`,
	})
	if !slices.Contains(withServer.Resources["ServersAlarm"].DependsOn, "ServerService") {
		t.Error("the alarm goes off before there are servers")
	}
	holds(t, withServer.Resources["ServerProcessorAlarm"], map[string]string{
		"Namespace": `"AWS/ECS"`, "MetricName": `"CPUUtilization"`, "Threshold": "80", "TreatMissingData": `"notBreaching"`,
		"Dimensions": `[{"Name":"ClusterName","Value":{"Ref":"ServerCluster"}},{"Name":"ServiceName","Value":"assay-prod-grpc"}]`,
	})
	body := withServer.one(t, "AWS::CloudWatch::Dashboard").at("DashboardBody")
	if n := len(metric.FindAllString(body, -1)); n > 50 || !strings.Contains(body, `AWS/ECS`) {
		t.Errorf("%d metrics on the dashboard", n)
	}
}
