// Package schedule runs Lambda functions that work at given times. A function creates one-time schedules of EventBridge, which call it
// when work is due, so that an unused service costs nothing. The package handles these calls and those of the table's stream.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/shared/edge/awsconfig"
	"assay/shared/service/config"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// Event is the event of a schedule.
type Event struct {
	Wake  string // kind of work
	After string `json:",omitempty"` // for WakeClean: last file of the previous part of the cleaning
}

// Kinds of work in schedules.
const (
	WakeDue    = "due"
	WakeClean  = "clean"
	WakeNotify = "notify"
)

// Schedules creates one-time schedules, which call the function with an Event and are then deleted. There is at most one schedule of
// each kind for a minute. Its name consists of kind and minute.
type Schedules struct {
	client              *scheduler.Client
	group, role, target string
	deadLetterQueue     string
	made                map[string]bool // names of created schedules; needs no lock, because Lambda makes one call at a time
}

// maxMade bounds the cached names. A dropped name costs a request.
const maxMade = 10_000

// New reads the target and the role of the schedules from the environment.
func New(env *config.Environment) *Schedules {
	return &Schedules{
		client: scheduler.NewFromConfig(awsconfig.Scheduler(env)),
		group:  env.Require(config.ScheduleGroupVariable), role: env.Require(config.ScheduleRoleVariable),
		target: env.Require(config.ScheduleTargetVariable), deadLetterQueue: env.Require(config.DeadLettersVariable),
		made: map[string]bool{},
	}
}

// Set schedules a call with the event at the time, or within the minute after it.
func (a *Schedules) Set(ctx context.Context, at time.Time, e Event) error {
	minute := at.UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	if soonest := time.Now().UTC().Add(2 * time.Minute).Truncate(time.Minute); minute.Before(soonest) {
		minute = soonest // EventBridge refuses times in the past
	}
	name := e.Wake + minute.Format("-20060102T1504")
	if e.After != "" {
		name = "continue-" + name // distinguishes it from the cleaning of that day
	}
	if a.made[name] {
		return nil
	}
	input, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = a.client.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
		Name: &name, GroupName: &a.group,
		ScheduleExpression:    aws.String("at(" + minute.Format("2006-01-02T15:04:05") + ")"),
		FlexibleTimeWindow:    &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		ActionAfterCompletion: types.ActionAfterCompletionDelete,
		Target: &types.Target{
			Arn: &a.target, RoleArn: &a.role, Input: aws.String(string(input)),
			DeadLetterConfig: &types.DeadLetterConfig{Arn: &a.deadLetterQueue},
		},
	})
	if _, there := errors.AsType[*types.ConflictException](err); err != nil && !there {
		return fmt.Errorf("the schedule %s was not made: %w", name, err)
	}
	if len(a.made) == maxMade {
		clear(a.made)
	}
	a.made[name] = true
	return nil
}
