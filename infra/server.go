package main

import (
	"maps"
	"slices"
	"strconv"

	"assay/functions"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/jsii-runtime-go"
)

// server is the gRPC server with its names in metrics.
type server struct {
	cluster, name *string
	balancer      balancer
	service       awscdk.CfnResource
}

const (
	processor = 256 // of 1,024 units of a virtual processor; Fargate's minimum
	// stopTime is the time in seconds between the signal to stop and the end of the server. The server gives running calls half of that.
	stopTime = 30
	// nobody is the user of the image. The image has no list of users.
	nobody = "65532:65532"
)

// addServer creates the gRPC server on Fargate, with the configured number of copies of its container. Copies have no state of their
// own. Leases are in the table, so none is lost when a copy is replaced or crashes: workers continue with another copy.
func (st *stack) addServer() *server {
	d := functions.GRPC()
	n := st.addNetwork()
	s := &server{name: jsii.String(st.resourceName(d.Name)), balancer: st.addBalancer(n)}
	cluster := awsecs.NewCfnCluster(st.scope, jsii.String("ServerCluster"), &awsecs.CfnClusterProps{ClusterName: s.name})
	s.cluster = cluster.Ref()
	service := awsecs.NewCfnService(st.scope, jsii.String("ServerService"), &awsecs.CfnServiceProps{
		ServiceName: s.name, Cluster: s.cluster, TaskDefinition: st.addTask(d), LaunchType: jsii.String("FARGATE"),
		DesiredCount: jsii.Number(float64(st.GRPC.Count)), PropagateTags: jsii.String("SERVICE"),
		DeploymentConfiguration: awsecs.CfnService_DeploymentConfigurationProperty{
			// New copies start before old ones stop.
			MinimumHealthyPercent: jsii.Number(100), MaximumPercent: jsii.Number(200),
			DeploymentCircuitBreaker: awsecs.CfnService_DeploymentCircuitBreakerProperty{Enable: true, Rollback: true},
		},
		HealthCheckGracePeriodSeconds: jsii.Number(60),
		NetworkConfiguration: awsecs.CfnService_NetworkConfigurationProperty{AwsvpcConfiguration: awsecs.CfnService_AwsVpcConfigurationProperty{
			Subnets: &n.subnets, SecurityGroups: &[]*string{n.server}, AssignPublicIp: jsii.String("ENABLED"),
		}},
		LoadBalancers: []any{awsecs.CfnService_LoadBalancerProperty{
			ContainerName: &d.Name, ContainerPort: jsii.Number(grpcPort), TargetGroupArn: s.balancer.group,
		}},
	})
	service.AddResourceDependency(s.balancer.listener, nil) // the listener attaches the target group to the load balancer
	for _, r := range n.dependencies {
		service.AddResourceDependency(r, nil)
	}
	s.service = service
	return s
}

// addTask describes one copy, and returns the ARN of the task definition.
func (st *stack) addTask(d functions.Deployment) *string {
	logs := st.addLog("ServerLog", "/aws/ecs/"+st.resourceName(d.Name))
	image := awsecrassets.NewDockerImageAsset(st.scope, jsii.String("ServerImage"), &awsecrassets.DockerImageAssetProps{
		Directory: &st.GRPC.Images, File: jsii.String(dockerfile), Platform: awsecrassets.Platform_LINUX_ARM64(),
		BuildArgs: &map[string]*string{"TARGETARCH": jsii.String("arm64")}, // Docker without BuildKit does not set it
		// Other outputs of make belong to other images, and must not change the digest of this one.
		Exclude: jsii.Strings("bin/container/amd64", "bin/container/arm64/assay-server", "bin/container/data", "local"),
	})
	variables := st.environment(d)
	variables["AWS_REGION"] = awscdk.Aws_REGION()
	var environment []any
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		environment = append(environment, awsecs.CfnTaskDefinition_KeyValuePairProperty{Name: &name, Value: variables[name]})
	}
	may := append(st.tableRights(d), st.fileRights(d)...)
	role := st.addRole("ServerRole", "What the server "+st.resourceName(d.Name)+" may do", st.tasksTrustPolicy(), d.Name, may...)
	return awsecs.NewCfnTaskDefinition(st.scope, jsii.String("ServerTask"), &awsecs.CfnTaskDefinitionProps{
		Family: jsii.String(st.resourceName(d.Name)), NetworkMode: jsii.String("awsvpc"), RequiresCompatibilities: jsii.Strings("FARGATE"),
		Cpu: jsii.String(strconv.Itoa(processor)), Memory: jsii.String(strconv.Itoa(d.MemoryMB)),
		RuntimePlatform: awsecs.CfnTaskDefinition_RuntimePlatformProperty{
			CpuArchitecture: jsii.String("ARM64"), OperatingSystemFamily: jsii.String("LINUX")},
		TaskRoleArn:      role.AttrArn(),
		ExecutionRoleArn: st.addExecutionRole(image, logs.AttrArn()),
		ContainerDefinitions: []any{awsecs.CfnTaskDefinition_ContainerDefinitionProperty{
			Name: &d.Name, Image: image.ImageUri(), Essential: true, User: jsii.String(nobody), ReadonlyRootFilesystem: true,
			PortMappings: []any{awsecs.CfnTaskDefinition_PortMappingProperty{ContainerPort: jsii.Number(grpcPort), Protocol: jsii.String("tcp")}},
			Environment:  environment,
			HealthCheck: awsecs.CfnTaskDefinition_HealthCheckProperty{
				Command: jsii.Strings("CMD", "/assay-grpc", "-check"), Interval: jsii.Number(30), Timeout: jsii.Number(5), Retries: jsii.Number(3),
				StartPeriod: jsii.Number(15),
			},
			StopTimeout: jsii.Number(stopTime),
			LogConfiguration: awsecs.CfnTaskDefinition_LogConfigurationProperty{LogDriver: jsii.String("awslogs"), Options: object{
				"awslogs-group": logs.Ref(), "awslogs-region": awscdk.Aws_REGION(), "awslogs-stream-prefix": d.Name,
				"mode": "non-blocking", "max-buffer-size": "4m", // the server continues if its log cannot be written
			}},
		}},
	}).Ref()
}

// addExecutionRole creates the role with which ECS fetches the image and writes the log.
func (st *stack) addExecutionRole(image awsecrassets.DockerImageAsset, log *string) *string {
	return st.addRole("ServerStarterRole", "What starts the server "+st.resourceName("grpc")+" may do", st.tasksTrustPolicy(), "start",
		allow("Log", []string{"logs:CreateLogStream", "logs:PutLogEvents"}, log),
		allow("SignIn", []string{"ecr:GetAuthorizationToken"}, jsii.String("*")), // the registry offers no narrower resource
		allow("FetchImage", []string{"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"},
			image.Repository().RepositoryArn()),
	).AttrArn()
}

// tasksTrustPolicy lets only the ECS tasks of this account assume a role.
func (st *stack) tasksTrustPolicy() object {
	return trustPolicy("ecs-tasks.amazonaws.com", object{
		"StringEquals": object{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
		"ArnLike":      object{"aws:SourceArn": st.arn("ecs", "*")},
	})
}

// dockerfile is the Dockerfile of the gRPC server's image, relative to the folder from which images are built.
const dockerfile = "grpc/Dockerfile"
