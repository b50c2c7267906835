package server

import (
	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/visibility"

	"google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
)

// methodRoles has the role that each method requires. A method without an entry is refused to everyone. RunService also decides
// for each run what the caller sees of it.
var methodRoles = map[string]access.Role{
	assayv1.WorkerService_Lease_FullMethodName:            access.Worker,
	assayv1.WorkerService_Heartbeat_FullMethodName:        access.Worker,
	assayv1.WorkerService_CompleteRun_FullMethodName:      access.Worker,
	assayv1.WorkerService_ReportEvaluation_FullMethodName: access.Worker,
	assayv1.WorkerService_FailRun_FullMethodName:          access.Worker,

	assayv1.RunService_GetRun_FullMethodName:   access.Anyone,
	assayv1.RunService_ListRuns_FullMethodName: access.Anyone,
	assayv1.RunService_WatchRun_FullMethodName: access.Anyone,

	grpc_health_v1.Health_Check_FullMethodName: access.Anyone,
	grpc_health_v1.Health_List_FullMethodName:  access.Anyone,
	grpc_health_v1.Health_Watch_FullMethodName: access.Anyone,

	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:            access.Anyone,
	grpc_reflection_v1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: access.Anyone,
}

// authorize decides whether the caller may call the method.
func authorize(c access.Caller, method string) error {
	may := methodRoles[method]
	switch access.Decide(may, access.Roles(c, access.Grants{}, access.Scope{}), access.Scope{Audience: access.Everyone}) {
	case access.Allow:
		return nil
	case access.Login:
		return problem.Unauthorized.New("This needs a login. Send a bearer token of the sign-in issuer in the metadata: authorization: Bearer " +
			"<token>.")
	case access.Forbid:
		return problem.Forbidden.New("You may not do this: it takes %s.", may)
	default:
		return visibility.Missing
	}
}
