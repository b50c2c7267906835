// Package config reads the settings of programs: environment variables, flags, and settings that are JSON. It exists so that
// each variable has its name in one place, which the deployment sets and the programs read, and so that only a main ends
// its process: what is missing or malformed is returned as an error. Package awsconfig makes settings of the AWS SDK of it.
package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Prefix begins the names of all variables of Assay, but for those of the worker.
const Prefix = "ASSAY_"

// The variables that the deployment sets.
const (
	TableVariable    = Prefix + "TABLE"    // name of DynamoDB's table
	BucketVariable   = Prefix + "BUCKET"   // name of S3's bucket
	IssuerVariable   = Prefix + "ISSUER"   // OpenID Connect issuer to trust
	AudienceVariable = Prefix + "AUDIENCE" // audience that its tokens must have
	// quotas of users and of the server, in JSON, where they differ from the defaults; see record.Quotas
	QuotasVariable  = Prefix + "QUOTAS"
	OriginsVariable = Prefix + "ORIGINS" // origins of web pages that may call the API, separated by commas; none: all

	ScheduleGroupVariable  = Prefix + "SCHEDULE_GROUP"  // name of the evaluator's group of schedules
	ScheduleRoleVariable   = Prefix + "SCHEDULE_ROLE"   // ARN of the role with which a schedule calls the evaluator
	ScheduleTargetVariable = Prefix + "SCHEDULE_TARGET" // ARN of the evaluator
	DeadLettersVariable    = Prefix + "DEAD_LETTERS"    // ARN of the queue of events that could not be delivered
)

// Environment reads variables, and collects an error for each that is missing: a main reads them all and checks Err once.
type Environment struct{ missing []error }

// Require returns the value of a variable that must be set.
func (e *Environment) Require(name string) string {
	v := os.Getenv(name)
	if v == "" {
		e.missing = append(e.missing, fmt.Errorf("the environment variable %s must be set", name))
	}
	return v
}

// Err returns an error that names each required variable that is missing; nil when there is none.
func (e *Environment) Err() error { return errors.Join(e.missing...) }

// Origins returns the origins of web pages that may call the API.
func Origins() []string {
	if v := os.Getenv(OriginsVariable); v != "" {
		return strings.Split(v, ",")
	}
	return []string{"*"}
}
