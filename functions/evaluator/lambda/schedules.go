package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/config"
	"assay/shared/config/awsconfig"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// What schedules are for.
const (
	wakeDue   = "due"
	wakeClean = "clean"
)

// schedules makes one-time schedules of EventBridge, which call the function with an event of Wake and are then deleted. Each minute has
// at most one of each kind, named after it, however much is due.
type schedules struct {
	client              *scheduler.Client
	group, role, target string
	deadLetterQueue     string
	made                map[string]bool // by name; Lambda calls the function once at a time
}

// maxMade bounds the cached names; a forgotten one costs a request.
const maxMade = 10_000

func newSchedules(env *config.Environment) *schedules {
	return &schedules{
		client: scheduler.NewFromConfig(awsconfig.Scheduler(env)),
		group:  env.Require(config.ScheduleGroupVariable), role: env.Require(config.ScheduleRoleVariable),
		target: env.Require(config.ScheduleTargetVariable), deadLetterQueue: env.Require(config.DeadLettersVariable),
		made: map[string]bool{},
	}
}

// set has the function called at the instant, or within the minute after it.
func (a *schedules) set(ctx context.Context, at time.Time, what string) error {
	minute := at.UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	if soonest := time.Now().UTC().Add(2 * time.Minute).Truncate(time.Minute); minute.Before(soonest) {
		minute = soonest // a schedule of the past is refused
	}
	name := what + minute.Format("-20060102T1504")
	if a.made[name] {
		return nil
	}
	_, err := a.client.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
		Name: &name, GroupName: &a.group,
		ScheduleExpression:    aws.String("at(" + minute.Format("2006-01-02T15:04:05") + ")"),
		FlexibleTimeWindow:    &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		ActionAfterCompletion: types.ActionAfterCompletionDelete,
		Target: &types.Target{
			Arn: &a.target, RoleArn: &a.role, Input: aws.String(`{"Wake":"` + what + `"}`),
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
