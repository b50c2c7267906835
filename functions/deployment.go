package functions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
)

// Service is the family that answers requests without a route.
const Service = "service"

// Console is the family that signs people in with a browser.
const Console = "console"

// The functions that events call instead of requests.
const (
	Background = "background" // behind the queue and pending work: evaluates runs, and does background work
	Uploads    = "uploads"    // behind the bucket
	Notifier   = "notifier"   // behind the outbox
)

// Deployment holds the rights and settings of a function that serves a family, or that events call. A function has no other rights,
// except to read the table.
type Deployment struct {
	Name       string
	Operations []api.Operation // empty: events call the function, not requests
	Charges    bool            // counts the files that it stores for its callers in their quotas, in the table
	Files      []FileRights
	ListsFiles bool // may list the files, or learn that a file is missing
	ReadsClaim bool // may read which table the files belong to
	SendsMail  bool
	MemoryMB   int           // also decides the share of a processor
	Timeout    time.Duration // zero: no timeout
}

// FileRights says what a function may do with the files of a holder. The right to sign a link is the right to do what the link
// allows.
type FileRights struct {
	Holder           record.Holder
	Get, Put, Delete bool
}

// ByEvents reports whether events call the function.
func (d Deployment) ByEvents() bool {
	return d.Name == Background || d.Name == Uploads || d.Name == Notifier
}

// Writes reports whether the function changes the table.
func (d Deployment) Writes() bool {
	return d.Charges || d.ByEvents() || slices.ContainsFunc(d.Operations, func(o api.Operation) bool { return o.Changes() })
}

const (
	// answerTime lets a request end within api.RequestTime, plus the work after the request. API Gateway gives up after 30
	// seconds.
	answerTime = api.RequestTime + 4*time.Second
	// evaluationTime is the longest timeout of AWS Lambda.
	evaluationTime = 15 * time.Minute
	// deliveryTime is enough to send the e-mails of one batch.
	deliveryTime = 5 * time.Minute
	// notificationTime is much longer than a few transactions take.
	notificationTime = time.Minute
)

const (
	smallMB  = 512  // answers from the table
	mediumMB = 1024 // reads the files of a request and checks each line
	largeMB  = 3008 // holds a truth and the lines of a run; the limit of a new AWS account
)

// files holds the rights to files by function. Other functions have none.
var files = map[string][]FileRights{
	"datasets": {
		{Holder: record.HolderInputs, Get: true, Put: true, Delete: true},
		{Holder: record.HolderTruths, Get: true, Put: true, Delete: true},
		{Holder: record.HolderRuns, Get: true}, // previews of another ground truth evaluate runs
	},
	"submissions": {
		{Holder: record.HolderRuns, Get: true, Put: true, Delete: true},
	},
	"runs": {
		{Holder: record.HolderRuns, Get: true, Put: true},
		{Holder: record.HolderLogs, Get: true},
	},
	"evaluations": {{Holder: record.HolderEvaluations, Get: true}},
	"tools": {
		{Holder: record.HolderInputs, Get: true},
		{Holder: record.HolderTruths, Get: true},
		{Holder: record.HolderRuns, Get: true},
		{Holder: record.HolderEvaluations, Get: true},
		{Holder: record.HolderTools, Get: true, Put: true},
	},
	Background: {
		{Holder: record.HolderInputs, Get: true, Delete: true},
		{Holder: record.HolderTruths, Get: true, Delete: true},
		{Holder: record.HolderRuns, Get: true, Delete: true},
		{Holder: record.HolderLogs, Get: true, Put: true, Delete: true},
		{Holder: record.HolderEvaluations, Put: true, Delete: true},
		{Holder: record.HolderTools, Delete: true},
	},
}

var memory = map[string]int{"datasets": mediumMB, "submissions": mediumMB, "tools": largeMB}

// GRPC returns the deployment of the gRPC server, which is a container and not a function. Workers get inputs, truths and runs
// through links that the server signs, and upload the files of runs. The server stores their results like the evaluator, and
// deletes results that it could not finish. It looks for outputs that may not exist yet and for logs that may have been replaced,
// so it must learn that a file is missing.
func GRPC() Deployment {
	return Deployment{Name: "grpc", ListsFiles: true, ReadsClaim: true, MemoryMB: smallMB, Files: []FileRights{
		{Holder: record.HolderInputs, Get: true},
		{Holder: record.HolderTruths, Get: true},
		{Holder: record.HolderRuns, Get: true, Put: true},
		{Holder: record.HolderLogs, Get: true},
		{Holder: record.HolderEvaluations, Put: true, Delete: true},
	}}
}

// Deployments lists all deployed functions: the families in the order of Families, then the functions that events call.
func Deployments() []Deployment {
	var all []Deployment
	for _, g := range Families() {
		all = append(all, Deployment{
			Name: g.Name, Operations: g.Operations, Charges: g.Name == "tools", Files: files[g.Name],
			MemoryMB: cmp.Or(memory[g.Name], smallMB), Timeout: answerTime,
		})
	}
	return append(all, Deployment{
		Name: Background, Files: files[Background], ListsFiles: true, MemoryMB: largeMB, Timeout: evaluationTime,
	}, Deployment{Name: Uploads, MemoryMB: smallMB, Timeout: notificationTime},
		Deployment{Name: Notifier, SendsMail: true, MemoryMB: smallMB, Timeout: deliveryTime})
}

// DefaultRoute is the key of the route for requests without another route.
const DefaultRoute = "$default"

// Routes lists the keys of the routes to the function in API Gateway: one for each address of its operations, with all methods.
// The function can therefore answer OPTIONS and unsupported methods. Requests to other addresses go to the service.
func (d Deployment) Routes() []string {
	var all []string
	for _, o := range d.Operations {
		if key := "ANY " + strings.TrimSuffix(o.Path, "{$}"); !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	if d.Name == Service {
		all = append(all, DefaultRoute)
	}
	return all
}
