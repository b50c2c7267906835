package main

import (
	"regexp"

	"assay/functions"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// gateway is the HTTP API in front of the functions.
type gateway struct{ id, url, log *string }

// accessLog is the format of the access log. Each line is a JSON object. The function's log has the same request id. The log contains no
// text that clients choose, except the path: a quotation mark in such a text would break the line.
var accessLog = object{
	"requestId":          "$context.requestId",
	"time":               "$context.requestTime",
	"ip":                 "$context.identity.sourceIp",
	"method":             "$context.httpMethod",
	"route":              "$context.routeKey",
	"path":               "$context.path",
	"status":             "$context.status",
	"bytes":              "$context.responseLength",
	"milliseconds":       "$context.responseLatency",
	"functionStatus":     "$context.integrationStatus",
	"functionRequestId":  "$context.integration.requestId",
	"functionTime":       "$context.integrationLatency",
	"functionError":      "$context.integrationErrorMessage",
	"gatewayErrorReason": "$context.error.responseType",
}

// addAPI creates the HTTP API. The functions also answer CORS requests and requests without a route, like every server of Assay.
func (st *stack) addAPI() gateway {
	a := awsapigatewayv2.NewCfnApi(st.scope, jsii.String("Api"), &awsapigatewayv2.CfnApiProps{
		Name: jsii.String(st.resourceName("api")), Description: jsii.String("Assay, a platform for shared tasks"),
		ProtocolType:              jsii.String("HTTP"),
		DisableExecuteApiEndpoint: st.Domain != "",
	})
	// API Gateway may write to log groups with this prefix without a policy for each group.
	logs := st.addLog("ApiLog", "/aws/vendedlogs/"+st.resourceName("api"))
	stage := awsapigatewayv2.NewCfnStage(st.scope, jsii.String("ApiStage"), &awsapigatewayv2.CfnStageProps{
		ApiId: a.Ref(), StageName: jsii.String("$default"), AutoDeploy: true,
		DefaultRouteSettings: awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit: jsii.Number(float64(st.Rate)), ThrottlingBurstLimit: jsii.Number(float64(st.Burst)),
		},
		AccessLogSettings: awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: logs.AttrArn(), Format: st.scope.ToJsonString(accessLog, nil)},
	})
	if st.Domain == "" {
		return gateway{id: a.Ref(), url: a.AttrApiEndpoint(), log: logs.Ref()}
	}
	domain := awsapigatewayv2.NewCfnDomainName(st.scope, jsii.String("Domain"), &awsapigatewayv2.CfnDomainNameProps{
		DomainName: &st.Domain,
		DomainNameConfigurations: []any{awsapigatewayv2.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: &st.Certificate, EndpointType: jsii.String("REGIONAL"), SecurityPolicy: jsii.String("TLS_1_2"),
		}},
	})
	awsapigatewayv2.NewCfnApiMapping(st.scope, jsii.String("DomainMapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: a.Ref(), DomainName: domain.Ref(), Stage: stage.Ref(),
	})
	st.output("DomainTarget", "Point the CNAME record of "+st.Domain+" here", domain.AttrRegionalDomainName())
	return gateway{id: a.Ref(), url: jsii.String("https://" + st.Domain), log: logs.Ref()}
}

// addRoutes routes the paths of the family's operations to its function.
func (st *stack) addRoutes(f *function, d functions.Deployment) {
	integration := awsapigatewayv2.NewCfnIntegration(st.scope, jsii.String(f.id+"Integration"), &awsapigatewayv2.CfnIntegrationProps{
		ApiId: st.gateway.id, IntegrationType: jsii.String("AWS_PROXY"), IntegrationUri: f.arn,
		PayloadFormatVersion: jsii.String("2.0"), TimeoutInMillis: jsii.Number(30_000),
	})
	awslambda.NewCfnPermission(st.scope, jsii.String(f.id+"Permission"), &awslambda.CfnPermissionProps{
		FunctionName: f.ref, Action: jsii.String("lambda:InvokeFunction"), Principal: jsii.String("apigateway.amazonaws.com"),
		SourceArn: awscdk.Fn_Join(jsii.String(""), jsii.Strings(*st.arn("execute-api", ""), *st.gateway.id, "/*")),
	})
	target := awscdk.Fn_Join(jsii.String(""), jsii.Strings("integrations/", *integration.Ref()))
	for _, key := range d.Routes() {
		id := "Route" + regexp.MustCompile(`\W`).ReplaceAllString(key, "")
		awsapigatewayv2.NewCfnRoute(st.scope, &id, &awsapigatewayv2.CfnRouteProps{
			ApiId: st.gateway.id, RouteKey: &key, Target: target,
		})
	}
}
