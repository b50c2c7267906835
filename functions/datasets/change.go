package datasets

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/truth"
)

// DatasetPatch has the members of a dataset that can change.
type DatasetPatch struct {
	record.DatasetDraft
	BoardVersion int64 `json:"boardVersion" minimum:"0" doc:"can be set to truthVersion, so that leaderboards show it before every run has been evaluated against it"`
}

func change(ctx context.Context, c *api.Call, old *record.DatasetItem, p DatasetPatch) (*record.DatasetItem, error) {
	if old.Deleting() {
		return nil, problem.Conflict.New("The dataset is being deleted.")
	}
	d := p.DatasetDraft
	if d.TaskID != old.TaskID {
		return nil, problem.InvalidMember("/taskId", "never changes")
	}
	inline, err := checkFiles(&d, old)
	if err != nil {
		return nil, err
	}
	if p.BoardVersion != old.Board().TruthVersion {
		p.DatasetDraft = d
		return release(ctx, c, old, p)
	}
	for h, files := range map[record.Holder][]record.File{record.HolderInputs: d.Inputs, record.HolderTruths: d.Truths} {
		markStored(ctx, c, h, old.ID, files)
	}
	if reflect.DeepEqual(d, old.DatasetDraft) {
		return old, nil // what was patched is the service's, such as a link
	}
	if err := problem.Check(slices.Concat(d.CheckPublic(old), d.CheckPool(old.OrganizerID, old.Pool))); err != nil {
		return nil, err
	}
	changed := *old
	changed.DatasetDraft = d
	if !reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith) {
		board := old.Board()
		changed.BoardTruth = &board // until the change is accepted
	}
	audited, err := audit(ctx, c, old, &changed)
	if err != nil {
		return nil, err
	}
	if err := chargeFiles(ctx, c, old, &changed, audited); err != nil {
		return nil, err
	}
	if err := newTruth(ctx, c, old, &changed, inline); err != nil {
		return nil, err
	}
	// What has the same bytes may be in use already, so a change that fails takes nothing back.
	if err := putFiles(ctx, &changed, inline, c.ShareFile); err != nil {
		return nil, err
	}
	c.Tx.Save(&changed, c.Now())
	if err := renewWindow(ctx, c, old, &changed); err != nil {
		return nil, err
	}
	return &changed, noteEffects(ctx, c, old, &changed)
}

// released has the members of an audit entry about a release.
type released struct {
	BoardVersion int64 `json:"boardVersion"`
}

// release has leaderboards show the newest truth before every run has been evaluated against it.
func release(ctx context.Context, c *api.Call, old *record.DatasetItem, p DatasetPatch) (*record.DatasetItem, error) {
	truth, err := records.Get[record.Truth](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
	if err != nil {
		return nil, err
	}
	wrong := ""
	switch {
	case truth == nil || p.BoardVersion != old.TruthVersion:
		wrong = fmt.Sprintf("can only be set to truthVersion, which is %d", old.TruthVersion)
	case !reflect.DeepEqual(p.DatasetDraft, old.DatasetDraft):
		wrong = "changes in a patch of its own: leave the other members as they are"
	}
	if wrong != "" {
		return nil, problem.InvalidMember("/boardVersion", "%s", wrong)
	}
	now, changed := c.Now(), *old
	changed.Show(truth)
	changed.Reevaluate(now)
	c.Tx.Save(&changed, now).Replace(truth)
	return &changed, c.Audit(ctx, old.Scope(), record.BoardReleased, "/v1/datasets/"+old.ID, released{old.Board().TruthVersion}, released{
		p.BoardVersion})
}

// markStored marks the pending files that the object store has: those that the dataset had before, or has as its truth in use.
// Uploading them again is refused, so no notification would come.
func markStored(ctx context.Context, c *api.Call, h record.Holder, id string, files []record.File) {
	for i, f := range files {
		if f.State != record.FilePending {
			continue
		}
		if o, err := c.Files.Stat(ctx, record.ObjectKey(h, id, f.SHA256)); err == nil && o.Size == f.Size {
			files[i].State = record.FileStored
		}
	}
}

// replacedTime is how long a replaced file is stored at most: abandoned files are deleted at least once a day.
const replacedTime = record.AbandonedAfter + record.Day

// chargeFiles adds to c.Tx the charge and what the files of the change take from quotas. All files of a dataset count for the user who
// added the last one, so a member who only removes some is never refused.
func chargeFiles(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, charge record.Charge) error {
	before, after := old.ObjectKeys(), changed.ObjectKeys()
	for i, f := range old.Files() {
		if f.State == record.FileStored && !slices.Contains(after, before[i]) {
			charge.Leaving += f.Size
			charge.Until = record.At(c.Now().Add(replacedTime))
		}
	}
	if slices.ContainsFunc(after, func(key string) bool { return !slices.Contains(before, key) }) {
		changed.Payer = c.Caller.ID
		if p := record.PendingUploads(changed.Files()); p.Files > 0 {
			charge.Pending = map[string]record.Uploads{changed.Key().Partition: p}
		}
	}
	charge.Bytes = record.SizeOf(changed.Files())
	had := record.SizeOf(old.Files())
	if changed.Payer == old.Payer {
		charge.Bytes -= had
	} else if err := c.Account(old.Payer).Credit(ctx, record.Charge{Bytes: -had}); err != nil {
		return err
	}
	if changed.Payer != c.Caller.ID {
		files := record.Charge{Bytes: charge.Bytes, Leaving: charge.Leaving, Until: charge.Until}
		if err := c.Account(changed.Payer).Credit(ctx, files); err != nil {
			return err
		}
		charge = record.Charge{Kind: charge.Kind, Count: charge.Count}
	}
	if charge.Count == 0 && charge.Bytes == 0 && charge.Leaving == 0 && charge.Pending == nil {
		return nil
	}
	return c.Charge(ctx, charge)
}

// maxAtOnce is how large a stored truth may be for a request to wait until it has been read.
const maxAtOnce = 64 << 20

// audit adds to c.Tx the audit entries of a change, and returns the charge for them.
func audit(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) (ch record.Charge, err error) {
	was, is := old.Audited(), changed.Audited()
	add := func(action string, before, after any) {
		ch.Kind, ch.Count = record.MadeAudits, ch.Count+1
		err = errors.Join(err, c.AuditFree(ctx, old.Scope(), action, "/v1/datasets/"+old.ID, before, after))
	}
	if !reflect.DeepEqual(was.DatasetRules, is.DatasetRules) {
		add(record.DatasetChanged, was.DatasetRules, is.DatasetRules)
	}
	switch {
	case !slices.Equal(was.Truths, is.Truths):
		add(record.TruthChanged, was.EvaluatedWith, is.EvaluatedWith)
	case !reflect.DeepEqual(was.EvaluatedWith, is.EvaluatedWith):
		add(record.EvaluatorChanged, was.EvaluatedWith, is.EvaluatedWith)
	}
	return ch, err
}

// newTruth has runs evaluated again when a change concerns what they are evaluated with: at once if all truth files are
// there and can be read within the request, else once they are and have been.
func newTruth(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	same := reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith)
	stored := record.AllStored(changed.Truths)
	if same && stored == record.AllStored(old.Truths) {
		return changePool(ctx, c, old, changed)
	}
	changed.Diagnostics = nil
	if !stored {
		if changed.PendingWork.Is(record.AcceptTruth) {
			changed.Resume(nil, c.Now())
		}
		return changePool(ctx, c, old, changed)
	}
	if record.SizeOf(changed.Truths) > maxAtOnce {
		changed.PendingWork = record.NewPendingWork(record.AcceptTruth, c.Now())
		return changePool(ctx, c, old, changed)
	}
	checked, err := checkTruth(ctx, c, old.ID, &changed.DatasetDraft, inline)
	if problem.TooLarge.Is(err) {
		changed.PendingWork = record.NewPendingWork(record.AcceptTruth, c.Now())
		return changePool(ctx, c, old, changed)
	}
	if err != nil {
		return err
	}
	inUse, err := records.Get[record.Truth](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
	if err != nil {
		return err
	}
	truth.Activate(c.Tx, changed, inUse, checked, c.Now())
	return nil
}

// changePool moves queued runs to the pool of workers that the dataset names now.
func changePool(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) error {
	if changed.Pool == old.Pool {
		return nil
	}
	truth, err := records.Get[record.Truth](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
	if err != nil || truth == nil {
		return err
	}
	truth.Pool = changed.Pool
	c.Tx.Save(truth, c.Now())
	changed.Reevaluate(c.Now())
	return nil
}
