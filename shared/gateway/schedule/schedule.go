// Package schedule has the functions of the evaluator and the notifier called at an instant, by one-time schedules of EventBridge, and
// handles these calls and those of the table's stream. Without schedules the functions would have to be called all the time, and an unused
// service would cost something.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/shared/config"
	"assay/shared/config/awsconfig"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// Event is the event of a schedule.
type Event struct {
	Wake  string // what for
	After string `json:",omitempty"` // of a cleaning, the last file that an earlier one is done with
}

// What schedules are for.
const (
	WakeDue    = "due"
	WakeClean  = "clean"
	WakeNotify = "notify"
)

// Schedules makes one-time schedules, which call the function with an Event and are then deleted. Each minute has at most one of
// each kind, named after it, however much is due.
type Schedules struct {
	client              *scheduler.Client
	group, role, target string
	deadLetterQueue     string
	made                map[string]bool // by name; Lambda calls the function once at a time
}

// maxMade bounds the cached names; a forgotten one costs a request.
const maxMade = 10_000

// New takes from the environment whom the schedules call, and as whom.
func New(env *config.Environment) *Schedules {
	return &Schedules{
		client: scheduler.NewFromConfig(awsconfig.Scheduler(env)),
		group:  env.Require(config.ScheduleGroupVariable), role: env.Require(config.ScheduleRoleVariable),
		target: env.Require(config.ScheduleTargetVariable), deadLetterQueue: env.Require(config.DeadLettersVariable),
		made: map[string]bool{},
	}
}

// Set has the function called with the event at the instant, or within the minute after it.
func (a *Schedules) Set(ctx context.Context, at time.Time, e Event) error {
	minute := at.UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	if soonest := time.Now().UTC().Add(2 * time.Minute).Truncate(time.Minute); minute.Before(soonest) {
		minute = soonest // a schedule of the past is refused
	}
	name := e.Wake + minute.Format("-20060102T1504")
	if e.After != "" {
		name = "continue-" + name // which must not be taken for the cleaning of that day
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
