package submissions

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// admission holds the records that decide whether a submission is accepted. The task and the registration are read first, because they
// decide whether the body of the request is read at all.
type admission struct {
	task *record.TaskItem
	// registration is the caller's grant. It has a copy of everything that a submission copies from the task and the registration: team,
	// anonymity and visibility. So a concurrent change of these changes the grant, and the request is tried again. It is nil for a baseline of
	// an organizer, whose transaction checks the task and the datasets instead.
	registration *record.Registered
	team         *record.RegistrationItem // the caller's team; nil for baselines
	unregistered error                    // reason why the caller can only submit baselines; nil if there is none
	allowance    *record.Allowance        // nil before the first submission
	datasets     []*record.DatasetItem    // in the order of datasetIds
	truths       []*record.TruthVersion   // parallel to datasets
	embargo      *record.Embargo          // nil unless a dataset waits for a close

	draft  string                 // digest of the draft; empty for baselines, which no quota counts, and drafts with faults
	again  bool                   // the draft becomes a new submission even if the team has submitted it before
	latest *record.SubmittedDraft // the team's latest submission of the draft; nil before the first
}

// Scope returns the scope of the task: callers who see the task may know that it takes submissions.
func (adm *admission) Scope() access.Scope { return adm.task.Scope() }

// WidestScope returns the scope of a public task, which most callers see.
func (adm *admission) WidestScope() access.Scope { return adm.task.WidestScope() }

// startAdmission finds the task that the path names, and requires that the caller has an accepted registration or organizes the task.
func startAdmission(ctx context.Context, c *api.Call) (*admission, error) {
	t, err := task(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := c.Require(ctx, access.User, t.Scope()); err != nil {
		return nil, err
	}
	adm := &admission{task: t}
	adm.unregistered = adm.checkRegistration(ctx, c)
	if adm.unregistered == nil {
		return adm, nil
	}
	roles, err := c.Roles(ctx, t.Scope())
	if err == nil && roles&(access.Organizer|access.Admin) == 0 {
		err = adm.unregistered
	}
	return adm, err
}

// admit refuses a draft that the caller may not submit to the task now.
func (adm *admission) admit(c *api.Call, d *record.SubmissionDraft) error {
	t := adm.task
	if err := checkBaseline(c, d.Baseline, false); err != nil {
		return err
	}
	if d.Baseline {
		adm.registration = nil
		return adm.checkDatasets(d)
	}
	if adm.unregistered != nil {
		return adm.unregistered
	}
	if adm.team != nil {
		if err := adm.team.CheckTerms(t); err != nil {
			return err
		}
	}
	if err := adm.checkWindows(c.Now()); err != nil {
		return err
	}
	if allowed := t.Submissions.Types; len(allowed) > 0 && !slices.Contains(allowed, d.Type) {
		return problem.InvalidMember("/type", "is %s; the task takes %s", d.Type, lists.Or(allowed))
	}
	return adm.checkDatasets(d)
}

// checkWindows requires that the window of each dataset is open to the team. The refusal names all datasets whose window is not, because
// the team can submit to the others. Datasets with equal windows share a sentence.
func (adm *admission) checkWindows(now time.Time) error {
	var windows []record.ActionWindow
	var names [][]string // of the datasets, by the index of their window
	for _, set := range adm.datasets {
		if set == nil || set.TaskID != adm.task.ID {
			continue // checkDatasets refuses the missing dataset.
		}
		opens, closes := adm.allowance.Window(adm.task, set)
		i := slices.IndexFunc(windows, func(w record.ActionWindow) bool { return same(w.Opens, opens) && same(w.Closes, closes) })
		if i < 0 {
			i = len(windows)
			windows = append(windows, record.ActionWindow{Opens: opens, Closes: closes})
			names = append(names, nil)
		}
		names[i] = append(names[i], strconv.Quote(set.Name))
	}
	for i, of := range names {
		windows[i].Action = "Submission to the " + plural.Verb(len(of), "dataset", "datasets") + " " + lists.And(of)
	}
	return record.CheckWindows(now, windows...)
}

// same reports whether two instants are equal. They can be nil.
func same(a, b *record.Instant) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(b.Time)
}

// checkRegistration requires an accepted registration.
func (adm *admission) checkRegistration(ctx context.Context, c *api.Call) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	grant, ok := g.ForTask(adm.task.ID)
	if was := g.EndedIn(adm.task.ID); !ok && was != nil {
		return problem.Forbidden.New("%s. To take part again, register, or join a team by an invitation: %s.", was.Ended.Clause(was.Team),
			problem.CreateRegistration.With(adm.task.ID))
	}
	if !ok {
		return problem.Forbidden.New("You are not registered for this task. Register first: %s.",
			problem.CreateRegistration.With(adm.task.ID))
	}
	if err := team.CheckAccepted(grant.State); err != nil {
		return err
	}
	adm.registration = &grant
	return nil
}

// participation says how the caller's team takes part in the task.
func (adm *admission) participation() record.Participation {
	if adm.team == nil { // The team was deleted meanwhile: the condition on the grant fails.
		return record.Participation{State: adm.registration.State}
	}
	return adm.team.Participation(adm.task)
}

// checkBaseline allows only organizers to make a submission a baseline, or no longer a baseline.
func checkBaseline(c *api.Call, baseline, wasBaseline bool) error {
	if baseline != wasBaseline && !c.Organizes() {
		return problem.InvalidMember("/baseline", "is set by the organizers of the task")
	}
	return nil
}

// loadRecords reads the allowance, each dataset with its truth, the team's latest submission of the draft, and the task again, after the
// grant. A request that changes the visibility of the task or deletes it changes the task first and all grants later. So a submission that
// has read the old task also has the old grant, and fails its condition on the grant.
func (adm *admission) loadRecords(ctx context.Context, c *api.Call, d *record.SubmissionDraft) error {
	adm.datasets = make([]*record.DatasetItem, len(d.DatasetIDs))
	adm.truths = make([]*record.TruthVersion, len(d.DatasetIDs))
	of := access.Scope{TaskID: adm.task.ID, OwnerID: c.Caller.ID}
	if adm.registration != nil && !d.Baseline {
		of.RegistrationID = adm.registration.ID
	}
	wanted := []records.Target{records.Into(&adm.task, adm.task.Key()).Or(visibility.Missing),
		records.Into(&adm.allowance, record.AllowanceKey(of.TaskID, cmp.Or(of.RegistrationID, of.OwnerID)))}
	if of.RegistrationID != "" { // Also without terms, because the task may have got its first ones since it was read.
		wanted = append(wanted, records.Into(&adm.team, record.RegistrationKey(of.TaskID, of.RegistrationID)))
	}
	if of.RegistrationID != "" && adm.draft != "" {
		wanted = append(wanted, records.Into(&adm.latest, record.SubmittedDraftKey(of.TaskID, of.RegistrationID, adm.draft)))
	}
	for i, id := range d.DatasetIDs {
		wanted = append(wanted, records.Into(&adm.datasets[i], record.DatasetKey(id)), records.Into(&adm.truths[i], record.TruthKey(id)))
	}
	err := records.Read(ctx, c.Store, store.Strong, wanted...)
	if err == nil && adm.allowance == nil && of.RegistrationID != "" { // the team's first submission
		adm.allowance, err = allowance.CarriedOver(ctx, c.Store, store.Strong, of)
	}
	waits := func(d *record.DatasetItem) bool { return d != nil && d.WaitsForClose() }
	if err == nil && slices.ContainsFunc(adm.datasets, waits) {
		adm.embargo, err = records.Get[record.Embargo](ctx, c.Store, store.Strong, record.EmbargoKey(adm.task.ID))
	}
	return err
}

// checkDatasets requires that the datasets belong to the task and have a ground truth, or will have one after the announced files arrive.
func (adm *admission) checkDatasets(d *record.SubmissionDraft) error {
	var fields problem.Fields
	var without []string
	for i, set := range adm.datasets {
		switch {
		case set == nil || set.TaskID != adm.task.ID:
			fields.Add(d.DatasetPointer(i), "names no dataset of this task")
		case d.Type == record.RepositoryType && !set.Builds:
			fields.Add(d.DatasetPointer(i),
				"names %q, which takes no repositories. Submit an image, or ask the organizers to let the dataset take repositories",
				set.Name)
		case set.Deleting():
			return problem.Conflict.New("The dataset %q is being deleted. Leave it out.", set.Name)
		case adm.truths[i] == nil && set.AwaitsTruth():
			adm.truths[i] = &record.TruthVersion{RunFormat: set.RunFormat, Evaluator: set.Evaluator} // The run waits for the announced truth.
		case adm.truths[i] == nil:
			without = append(without, set.Name)
		}
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	if len(without) > 0 {
		return problem.Conflict.New("%q cannot take submissions yet, because the organizers have announced no truth, or a truth with errors. "+
			"Try again later, or leave it out.", without)
	}
	return nil
}
