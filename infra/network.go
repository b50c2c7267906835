package main

import (
	"net/url"
	"strconv"

	"assay/shared/language/lists"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/jsii-runtime-go"
)

// network is the network of the gRPC server.
type network struct {
	id               *string
	subnets          []*string
	balancer, server *string // security groups
	dependencies     []awscdk.CfnResource
}

const (
	grpcPort    = 50052
	networkCIDR = "10.52.0.0/24"
)

var subnetCIDRs = []string{"10.52.0.0/26", "10.52.0.64/26"}

// addNetwork creates a network of two zones without a NAT. The server must reach the issuer of tokens, its image and its log. A public
// address for each server does that for $3.65 a month. A NAT costs $33. A private endpoint for each AWS service costs $7 a zone and does
// not reach the issuer. The security group lets only the load balancer reach the server. Gateway endpoints for DynamoDB and S3 are free
// of charge.
func (st *stack) addNetwork() network {
	name := []*awscdk.CfnTag{{Key: jsii.String("Name"), Value: jsii.String(st.resourceName("grpc"))}}
	vpc := awsec2.NewCfnVPC(st.scope, jsii.String("Network"), &awsec2.CfnVPCProps{
		CidrBlock: jsii.String(networkCIDR), EnableDnsSupport: true, EnableDnsHostnames: true, Tags: &name,
	})
	gateway := awsec2.NewCfnInternetGateway(st.scope, jsii.String("NetworkGateway"), &awsec2.CfnInternetGatewayProps{Tags: &name})
	attached := awsec2.NewCfnVPCGatewayAttachment(st.scope, jsii.String("NetworkGatewayAttachment"), &awsec2.CfnVPCGatewayAttachmentProps{
		VpcId: vpc.Ref(), InternetGatewayId: gateway.Ref(),
	})
	routes := awsec2.NewCfnRouteTable(st.scope, jsii.String("NetworkRoutes"), &awsec2.CfnRouteTableProps{VpcId: vpc.Ref(), Tags: &name})
	out := awsec2.NewCfnRoute(st.scope, jsii.String("NetworkRouteOut"), &awsec2.CfnRouteProps{
		RouteTableId: routes.Ref(), DestinationCidrBlock: jsii.String("0.0.0.0/0"), GatewayId: gateway.Ref(),
	})
	out.AddResourceDependency(attached, nil)
	for _, service := range []string{"DynamoDB", "S3"} {
		awsec2.NewCfnVPCEndpoint(st.scope, jsii.String("NetworkTo"+service), &awsec2.CfnVPCEndpointProps{
			VpcId: vpc.Ref(), VpcEndpointType: jsii.String("Gateway"), RouteTableIds: &[]any{routes.Ref()},
			ServiceName: awscdk.Fn_Sub(jsii.String("com.amazonaws.${AWS::Region}."+map[string]string{"DynamoDB": "dynamodb", "S3": "s3"}[service]),
				nil),
		})
	}
	n := network{id: vpc.Ref(), dependencies: []awscdk.CfnResource{out}}
	for i, cidr := range subnetCIDRs {
		id := "Subnet" + strconv.Itoa(i+1)
		subnet := awsec2.NewCfnSubnet(st.scope, &id, &awsec2.CfnSubnetProps{
			VpcId: vpc.Ref(), CidrBlock: jsii.String(cidr), AvailabilityZone: awscdk.Fn_Select(jsii.Number(float64(i)), awscdk.Fn_GetAzs(nil)),
			Tags: &name,
		})
		n.dependencies = append(n.dependencies, awsec2.NewCfnSubnetRouteTableAssociation(st.scope, jsii.String(id+"Routes"),
			&awsec2.CfnSubnetRouteTableAssociationProps{
				SubnetId: subnet.Ref(), RouteTableId: routes.Ref(),
			}))
		n.subnets = append(n.subnets, subnet.Ref())
	}
	st.addSecurityGroups(&n)
	return n
}

// addSecurityGroups lets everyone reach the load balancer, the load balancer reach the server, and the server reach TLS ports.
func (st *stack) addSecurityGroups(n *network) {
	balancer := awsec2.NewCfnSecurityGroup(st.scope, jsii.String("BalancerSecurity"), &awsec2.CfnSecurityGroupProps{
		VpcId: n.id, GroupDescription: jsii.String("Load balancer of " + st.resourceName("grpc")),
		SecurityGroupIngress: []any{awsec2.CfnSecurityGroup_IngressProperty{
			Description: jsii.String("Workers and watchers"), IpProtocol: jsii.String("tcp"), CidrIp: jsii.String("0.0.0.0/0"),
			FromPort: jsii.Number(grpcPort), ToPort: jsii.Number(grpcPort),
		}},
		SecurityGroupEgress: []any{awsec2.CfnSecurityGroup_EgressProperty{
			Description: jsii.String("Servers"), IpProtocol: jsii.String("tcp"), CidrIp: jsii.String(networkCIDR),
			FromPort: jsii.Number(grpcPort), ToPort: jsii.Number(grpcPort),
		}},
	})
	var out []any
	for _, port := range st.portsOut() {
		out = append(out, awsec2.CfnSecurityGroup_EgressProperty{
			Description: jsii.String("AWS and the issuer of tokens"), IpProtocol: jsii.String("tcp"), CidrIp: jsii.String("0.0.0.0/0"),
			FromPort: jsii.Number(port), ToPort: jsii.Number(port),
		})
	}
	server := awsec2.NewCfnSecurityGroup(st.scope, jsii.String("ServerSecurity"), &awsec2.CfnSecurityGroupProps{
		VpcId: n.id, GroupDescription: jsii.String("Servers of " + st.resourceName("grpc")),
		SecurityGroupIngress: []any{awsec2.CfnSecurityGroup_IngressProperty{
			Description: jsii.String("Load balancer"), IpProtocol: jsii.String("tcp"), SourceSecurityGroupId: balancer.AttrGroupId(),
			FromPort: jsii.Number(grpcPort), ToPort: jsii.Number(grpcPort),
		}},
		SecurityGroupEgress: out,
	})
	n.balancer, n.server = balancer.AttrGroupId(), server.AttrGroupId()
}

// portsOut returns the HTTPS port and, if it differs, the port of the issuer.
func (st *stack) portsOut() []float64 {
	ports := []float64{443}
	if u, err := url.Parse(st.Issuer); err == nil {
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil && port != 443 {
			ports = append(ports, float64(port))
		}
	}
	return ports
}

// balancer is the load balancer in front of the gRPC servers.
type balancer struct {
	group           *string // ARN of the group of servers
	name, groupName *string // in dimensions of metrics
	listener        awscdk.CfnResource
}

// deregistrationDelay is the time in which the load balancer may still send new connections to a server that will stop. Open connections
// remain open. The server asks its clients to reconnect, and they reach another server.
const deregistrationDelay = 60

// addBalancer creates a network load balancer that ends TLS and passes the content through. An application load balancer supports gRPC,
// but closes quiet connections, because it does not count HTTP/2 pings as traffic. A watcher of a waiting run, or a worker that polls,
// may get no message for minutes.
func (st *stack) addBalancer(n network) balancer {
	ofGroup := func(key, value string) awselasticloadbalancingv2.CfnTargetGroup_TargetGroupAttributeProperty {
		return awselasticloadbalancingv2.CfnTargetGroup_TargetGroupAttributeProperty{Key: &key, Value: &value}
	}
	b := awselasticloadbalancingv2.NewCfnLoadBalancer(st.scope, jsii.String("Balancer"), &awselasticloadbalancingv2.CfnLoadBalancerProps{
		Name: jsii.String(st.resourceName("grpc")), Type: jsii.String("network"), Scheme: jsii.String("internet-facing"),
		Subnets: new(lists.Map(n.subnets, func(s *string) any { return s })), SecurityGroups: &[]any{n.balancer},
		// One server serves both zones.
		LoadBalancerAttributes: []any{awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty{
			Key: jsii.String("load_balancing.cross_zone.enabled"), Value: jsii.String("true")}},
	})
	for _, r := range n.dependencies {
		b.AddResourceDependency(r, nil)
	}
	group := awselasticloadbalancingv2.NewCfnTargetGroup(st.scope, jsii.String("Servers"), &awselasticloadbalancingv2.CfnTargetGroupProps{
		Name: jsii.String(st.resourceName("grpc")), VpcId: n.id, TargetType: jsii.String("ip"), Protocol: jsii.String("TCP"),
		Port: jsii.Number(grpcPort),
		// The health check of the container, not this one, decides whether a server is replaced.
		HealthCheckProtocol: jsii.String("TCP"), HealthCheckIntervalSeconds: jsii.Number(10),
		HealthyThresholdCount: jsii.Number(2), UnhealthyThresholdCount: jsii.Number(2),
		TargetGroupAttributes: []any{
			ofGroup("deregistration_delay.timeout_seconds", strconv.Itoa(deregistrationDelay)),
			ofGroup("preserve_client_ip.enabled", "false"), // otherwise the server's security group would have to admit everyone
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
