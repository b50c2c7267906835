package functions

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/functions/service"
	"assay/shared/api"
	"assay/shared/record"
)

// The functions that events call, not requests.
const (
	Evaluator = "evaluator" // behind the queue
	Uploads   = "uploads"   // behind the bucket
	Notifier  = "notifier"  // behind the outbox
)

// Deployment has the rights and settings of a function where families are deployed as functions of their own. A function has no
// others.
type Deployment struct {
	Name       string
	Operations []api.Operation // none: the function is woken by events, not by requests
	ReadsTable bool            // and writes it, if one of the operations changes anything, or
	Charges    bool            // counts in the quotas of its callers what it stores for them
	Files      []FileRights
	ListsFiles bool // may learn which files there are: list them, or be answered that one is missing
	ReadsClaim bool // may read whose table's the files are
	SendsMail  bool
	MemoryMB   int           // which decides the share of a processor too
	Timeout    time.Duration // zero: none
}

// FileRights says what a function may do to the files of a holder. A right to sign a link is the right to what the link does.
type FileRights struct {
	Holder           record.Holder
	Get, Put, Delete bool
}

// ByEvents reports whether the function is called by events.
func (d Deployment) ByEvents() bool {
	return d.Name == Evaluator || d.Name == Uploads || d.Name == Notifier
}

// Writes reports whether the function changes the table.
func (d Deployment) Writes() bool {
	return d.Charges || d.ByEvents() || slices.ContainsFunc(d.Operations, func(o api.Operation) bool { return o.Changes() })
}

const (
	// answerTime lets a request end by api.RequestTime and do what follows it, and still answer before API Gateway gives it up
	// after 30 seconds.
	answerTime = api.RequestTime + 4*time.Second
	// evaluationTime is the longest that AWS Lambda lets a function run.
	evaluationTime = 15 * time.Minute
	// deliveryTime lets the e-mails of one batch be sent.
	deliveryTime = 5 * time.Minute
	// notificationTime is far more than a few transactions take.
	notificationTime = time.Minute
)

const (
	smallMB  = 512  // answers come from the table
	mediumMB = 1024 // reads the files that come with a request, and checks each line
	largeMB  = 3008 // holds a truth and the lines of a run; a new AWS account allows no more
)

// files are the rights by function; the others have no files.
var files = map[string][]FileRights{
	"datasets": {
		{Holder: record.HolderInputs, Get: true, Put: true, Delete: true},
		{Holder: record.HolderTruths, Get: true, Put: true, Delete: true},
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
	Evaluator: {
		{Holder: record.HolderInputs, Get: true, Delete: true},
		{Holder: record.HolderTruths, Get: true, Delete: true},
		{Holder: record.HolderRuns, Get: true, Delete: true},
		{Holder: record.HolderLogs, Get: true, Put: true, Delete: true},
		{Holder: record.HolderEvaluations, Put: true, Delete: true},
		{Holder: record.HolderTools, Delete: true},
	},
}

var memory = map[string]int{"datasets": mediumMB, "submissions": mediumMB, "tools": largeMB}

// GRPC returns what the gRPC server is given, which is no function but a container that runs for as long as it is wanted.
// Workers get inputs, truths and runs through the links that it signs, and put the files of runs. What they measured it
// writes as the evaluator does, and deletes what it could not finish. It asks for outputs that have not come yet and for
// logs that have been replaced, and must be answered that they are missing.
func GRPC() Deployment {
	return Deployment{Name: "grpc", ReadsTable: true, ListsFiles: true, ReadsClaim: true, MemoryMB: smallMB, Files: []FileRights{
		{Holder: record.HolderInputs, Get: true},
		{Holder: record.HolderTruths, Get: true},
		{Holder: record.HolderRuns, Get: true, Put: true},
		{Holder: record.HolderLogs, Get: true},
		{Holder: record.HolderEvaluations, Put: true, Delete: true},
	}}
}

// Deployments lists what is deployed: each family of Families in its order, then what events call.
func Deployments() []Deployment {
	var all []Deployment
	for _, g := range Families() {
		all = append(all, Deployment{
			Name: g.Name, Operations: g.Operations, ReadsTable: true, Charges: g.Name == "tools", Files: files[g.Name],
			MemoryMB: cmp.Or(memory[g.Name], smallMB), Timeout: answerTime,
		})
	}
	return append(all, Deployment{
		Name: Evaluator, ReadsTable: true, Files: files[Evaluator], ListsFiles: true, MemoryMB: largeMB, Timeout: evaluationTime,
	}, Deployment{Name: Uploads, ReadsTable: true, MemoryMB: smallMB, Timeout: notificationTime},
		Deployment{Name: Notifier, ReadsTable: true, SendsMail: true, MemoryMB: smallMB, Timeout: deliveryTime})
}

// DefaultRoute is the key of the route that takes what no other route takes.
const DefaultRoute = "$default"

// Route leads requests of a method and a path to a function, in the words of API Gateway.
type Route struct {
	ID  string // unique among all routes: letters
	Key string // such as "GET /v1/tasks/{taskId}"
}

// Routes are those of the function's operations: wherever there is GET there is HEAD. The service answers for all the rest,
// such as a path that is not there, a method that is not possible, or OPTIONS.
func (d Deployment) Routes() []Route {
	var all []Route
	for _, o := range d.Operations {
		all = append(all, routeOf(o, o.Method, ""))
		if o.Method == http.MethodGet {
			all = append(all, routeOf(o, http.MethodHead, "Head"))
		}
	}
	if d.Name == service.Name {
		all = append(all, Route{"Default", DefaultRoute})
	}
	return all
}

// routeOf says a pattern of net/http in API Gateway's words, which differ only at the end of the root.
func routeOf(o api.Operation, method, suffix string) Route {
	return Route{strings.ToUpper(o.ID[:1]) + o.ID[1:] + suffix, method + " " + strings.TrimSuffix(o.Path, "{$}")}
}
