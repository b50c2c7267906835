package functions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"assay/shared/api"
	"assay/shared/record"
)

// Service is the family that answers for what no route matches.
const Service = "service"

// Console is the family that signs people in with a browser.
const Console = "console"

// The functions that events call, not requests.
const (
	Evaluator = "evaluator" // behind the queue
	Uploads   = "uploads"   // behind the bucket
	Notifier  = "notifier"  // behind the outbox
)

// Deployment has the rights and settings of a function where families are deployed as functions of their own. A function has no
// others, but that to read the table.
type Deployment struct {
	Name       string
	Operations []api.Operation // none: the function is woken by events, not by requests
	Charges    bool            // counts in the quotas of its callers what it stores for them, in the table
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
	return Deployment{Name: "grpc", ListsFiles: true, ReadsClaim: true, MemoryMB: smallMB, Files: []FileRights{
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
			Name: g.Name, Operations: g.Operations, Charges: g.Name == "tools", Files: files[g.Name],
			MemoryMB: cmp.Or(memory[g.Name], smallMB), Timeout: answerTime,
		})
	}
	return append(all, Deployment{
		Name: Evaluator, Files: files[Evaluator], ListsFiles: true, MemoryMB: largeMB, Timeout: evaluationTime,
	}, Deployment{Name: Uploads, MemoryMB: smallMB, Timeout: notificationTime},
		Deployment{Name: Notifier, SendsMail: true, MemoryMB: smallMB, Timeout: deliveryTime})
}

// DefaultRoute is the key of the route that takes what no other route takes.
const DefaultRoute = "$default"

// Routes lists the keys of the routes to the function, as API Gateway has them: one for each address of its operations, whatever the
// method, so that the function answers OPTIONS and methods that are not possible as well. What has no address goes to the service.
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
