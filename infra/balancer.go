package main

import (
	"strconv"

	"assay/shared/lists"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/jsii-runtime-go"
)

// balancer is what stands before the gRPC servers.
type balancer struct {
	group           *string // ARN of the group of servers
	name, groupName *string // as metrics have them
	listener        awscdk.CfnResource
}

// deregistrationDelay is how long the load balancer may still send new connections to a server that is about to stop. Connections that
// are open stay open: the server asks its clients to go, and they come back to another.
const deregistrationDelay = 60

// addBalancer makes a network load balancer that ends TLS and passes on what is inside as it is. An application load
// balancer would know gRPC, and for that cut what is quiet: the pings of HTTP/2 don't count as traffic to it, and a watcher
// of a run that waits, like a worker that polls, may hear nothing for minutes.
func (st *stack) addBalancer(n network) balancer {
	attribute := func(key, value string) awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty {
		return awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty{Key: &key, Value: &value}
	}
	ofGroup := func(key, value string) awselasticloadbalancingv2.CfnTargetGroup_TargetGroupAttributeProperty {
		return awselasticloadbalancingv2.CfnTargetGroup_TargetGroupAttributeProperty{Key: &key, Value: &value}
	}
	b := awselasticloadbalancingv2.NewCfnLoadBalancer(st.scope, jsii.String("Balancer"), &awselasticloadbalancingv2.CfnLoadBalancerProps{
		Name: jsii.String(st.resourceName("grpc")), Type: jsii.String("network"), Scheme: jsii.String("internet-facing"),
		Subnets: new(lists.Map(n.subnets, func(s *string) any { return s })), SecurityGroups: &[]any{n.balancer},
		// One server serves both zones.
		LoadBalancerAttributes: []any{attribute("load_balancing.cross_zone.enabled", "true")},
	})
	for _, r := range n.ready {
		b.AddResourceDependency(r, nil)
	}
	group := awselasticloadbalancingv2.NewCfnTargetGroup(st.scope, jsii.String("Servers"), &awselasticloadbalancingv2.CfnTargetGroupProps{
		Name: jsii.String(st.resourceName("grpc")), VpcId: n.id, TargetType: jsii.String("ip"), Protocol: jsii.String("TCP"),
		Port: jsii.Number(grpcPort),
		// Whether a server is well is for the health check of its container, which asks it; one that isn't is replaced.
		HealthCheckProtocol: jsii.String("TCP"), HealthCheckIntervalSeconds: jsii.Number(10),
		HealthyThresholdCount: jsii.Number(2), UnhealthyThresholdCount: jsii.Number(2),
		TargetGroupAttributes: []any{
			ofGroup("deregistration_delay.timeout_seconds", strconv.Itoa(deregistrationDelay)),
			ofGroup("preserve_client_ip.enabled", "false"), // or the server's security group would have to let everyone in
		},
	})
	listener := awselasticloadbalancingv2.NewCfnListener(st.scope, jsii.String("BalancerListener"),
		&awselasticloadbalancingv2.CfnListenerProps{
			LoadBalancerArn: b.Ref(), Port: jsii.Number(grpcPort), Protocol: jsii.String("TLS"),
			AlpnPolicy: jsii.Strings("HTTP2Only"), SslPolicy: jsii.String("ELBSecurityPolicy-TLS13-1-2-2021-06"),
			Certificates:   []any{awselasticloadbalancingv2.CfnListener_CertificateProperty{CertificateArn: &st.GRPC.Certificate}},
			DefaultActions: []any{awselasticloadbalancingv2.CfnListener_ActionProperty{Type: jsii.String("forward"), TargetGroupArn: group.Ref()}},
		})
	st.output("GrpcTarget", "Point the CNAME record of the gRPC server's name here; it answers on port 50052", b.AttrDnsName())
	return balancer{group: group.Ref(), name: b.AttrLoadBalancerFullName(), groupName: group.AttrTargetGroupFullName(), listener: listener}
}
