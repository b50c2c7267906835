package datasets

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/storage/store"
)

// DatasetPatch holds the members of a dataset that clients can change.
type DatasetPatch struct {
	record.DatasetDraft
	BoardVersion int64 `json:"boardVersion" minimum:"0" doc:"can be set to truthVersion, so that leaderboards show it before every run has been evaluated against it"`
}

// change applies a patch to a dataset. A patch of boardVersion changes nothing else.
func change(ctx context.Context, c *api.Call, old *record.DatasetItem, p DatasetPatch) (*record.DatasetItem, error) {
	if old.Deleting() {
		return nil, problem.Conflict.New("The dataset is being deleted.")
	}
	draft := p.DatasetDraft
	if draft.TaskID != old.TaskID {
		return nil, problem.InvalidMember("/taskId", "never changes")
	}
	draft.KeepColumns(&old.DatasetDraft)
	inline, err := checkFiles(&draft, old)
	if err != nil {
		return nil, err
	}
	if p.BoardVersion != old.Board().TruthVersion {
		p.DatasetDraft = draft
		return release(ctx, c, old, p)
	}
	markStored(ctx, c, record.HolderInputs, old.ID, draft.Inputs)
	markStored(ctx, c, record.HolderTruths, old.ID, draft.Truths)
	if reflect.DeepEqual(draft, old.DatasetDraft) {
		return old, nil // The patch changes only members that the service sets, such as links.
	}
	if err := problem.Check(slices.Concat(draft.CheckPublic(old), draft.CheckPool(old.OrganizerID, old.Pool))); err != nil {
		return nil, err
	}
	changed := *old
	changed.DatasetDraft = draft
	if old.TruthVersion > 0 && !sameEvaluation(old, &changed) {
		board := old.KeptBoard()
		changed.BoardTruth = &board // Leaderboards show these results until the new truth is accepted.
	}
	return &changed, save(ctx, c, old, &changed, inline)
}

// sameEvaluation reports whether a change leaves the ground truth, the evaluator and the run format unchanged.
func sameEvaluation(old, changed *record.DatasetItem) bool {
	return reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith)
}

// save adds the changed dataset to c.Tx, with its audit entries, charges, events and pending work. It stores inline files at once. If the
// change fails, these files stay, because another file of the dataset with the same bytes may be in use.
func save(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	audited, err := audit(ctx, c, old, changed)
	if err != nil {
		return err
	}
	if err := chargeFiles(ctx, c, old, changed, audited); err != nil {
		return err
	}
	if err := replaceTruth(ctx, c, old, changed, inline); err != nil {
		return err
	}
	if err := putFiles(ctx, changed, inline, c.ShareFile); err != nil {
		return err
	}
	c.Tx.Save(changed, c.Now())
	if err := renewWindow(ctx, c, old, changed); err != nil {
		return err
	}
	return noteEffects(ctx, c, old, changed, inline)
}

// released holds the members of an audit entry about a release.
type released struct {
	BoardVersion int64 `json:"boardVersion"`
}

// release makes leaderboards show results against the newest truth, although some runs have not been evaluated against it yet.
func release(ctx context.Context, c *api.Call, old *record.DatasetItem, p DatasetPatch) (*record.DatasetItem, error) {
	inUse, err := records.Get[record.TruthVersion](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
	if err != nil {
		return nil, err
	}
	var wrong problem.Text
	switch {
	case inUse == nil || p.BoardVersion != old.TruthVersion:
		wrong = problem.Sentence("can only be set to {truthVersion}, which is %d", old.TruthVersion)
	case !reflect.DeepEqual(p.DatasetDraft, old.DatasetDraft):
		wrong = problem.Sentence("must be the only member that a patch changes")
	}
	if wrong.Detail != "" {
		return nil, problem.InvalidMember("/boardVersion", "%s", wrong)
	}
	now, changed := c.Now(), *old
	if err := propagation.Show(ctx, c.Store, c.Tx, &changed, inUse, now); err != nil {
		return nil, err
	}
	changed.Reevaluate(now)
	c.Tx.Save(&changed, now).Replace(inUse)
	before, after := released{old.Board().TruthVersion}, released{p.BoardVersion}
	return &changed, c.Audit(ctx, old.Scope(), record.BoardReleased, "/v1/datasets/"+old.ID, before, after)
}

// markStored marks announced files as stored if the object store already holds their bytes, from an earlier version of the dataset or from
// its truth in use. The object store refuses a second upload of such a file, so no notification of an upload would arrive.
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

// replacedTime is the longest time for which a replaced file stays stored. Abandoned files are deleted at least once a day.
const replacedTime = record.AbandonedAfter + record.Day

// chargeFiles adds to c.Tx the given charge and the charge for the files of a changed dataset. All files of a dataset count for its payer,
// who is the user who added a file last. So no quota refuses a member who only removes files.
//
//	the caller adds files              the caller becomes the payer of all files; the former payer gets all bytes back
//	the caller was the payer already   the caller pays the difference in bytes
//	another user stays the payer       that user gets the removed bytes back; the caller pays only the given charge
func chargeFiles(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, charge record.Charge) error {
	before, after := old.ObjectKeys(), changed.ObjectKeys()
	charge.Leaving = replacedBytes(old, after)
	if charge.Leaving > 0 {
		charge.Until = record.At(c.Now().Add(replacedTime))
	}
	if slices.ContainsFunc(after, func(key string) bool { return !slices.Contains(before, key) }) {
		changed.Payer = c.Caller.ID
		if old.Payer != "" && old.Payer != changed.Payer {
			c.Effect(api.Consequence{Kind: api.EffectQuota, Subject: "/v1/datasets/" + old.ID},
				problem.Sentence("You add a file, so all files of the dataset count as your stored files from now on, and no longer as "+
					"another member's."))
		}
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

// replacedBytes returns the size of the stored files of a dataset whose keys a change does not keep.
func replacedBytes(old *record.DatasetItem, kept []string) (size int64) {
	keys := old.ObjectKeys()
	for i, f := range old.Files() {
		if f.State == record.FileStored && !slices.Contains(kept, keys[i]) {
			size += f.Size
		}
	}
	return size
}

// audit adds to c.Tx the audit entries of a change, and returns the charge for them.
func audit(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) (ch record.Charge, err error) {
	was, is := old.Audited(), changed.Audited()
	add := func(action string, before, after any) {
		ch.Kind = record.MadeAudits
		ch.Count++
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

// maxAtOnce is the largest stored truth, in bytes, that a request reads. Larger truths are read after the request.
const maxAtOnce = 64 << 20

// replaceTruth decides when runs are evaluated with the truth files, evaluator and run format of a changed dataset:
//
//	unchanged, and no announced file arrived   never: the truth in use stays
//	some truth files are still missing         later: the upload of the last file makes the acceptance pending
//	too large to be read within the request    later: the acceptance is pending from now on
//	all others                                 at once: the request reads the truth and puts it in use
//
// Unless the request puts a truth in use, queued runs only move to the pool that the dataset names now.
func replaceTruth(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	stored := record.AllStored(changed.Truths)
	if sameEvaluation(old, changed) && stored == record.AllStored(old.Truths) {
		if !reflect.DeepEqual(old.Inputs, changed.Inputs) {
			changed.TruthReport = nil // it compares the truth with other inputs
			changed.DescribeTruth(c.Now())
		}
		return changePool(ctx, c, old, changed)
	}
	changed.Diagnostics = nil
	changed.TruthReport = nil
	if !stored {
		if changed.PendingWork.Is(record.AcceptTruth) {
			changed.Resume(nil, c.Now())
		}
		return changePool(ctx, c, old, changed)
	}
	if record.SizeOf(changed.Truths) <= maxAtOnce {
		err := activateTruth(ctx, c, old, changed, inline)
		if !problem.TooLarge.Is(err) {
			return err
		}
	}
	changed.PendingWork = record.NewPendingWork(record.AcceptTruth, c.Now())
	return changePool(ctx, c, old, changed)
}

// activateTruth reads the truth files and adds to c.Tx that they are in use. The problem is TooLarge if reading them takes more memory than
// a request may use.
func activateTruth(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	checked, err := checkTruth(ctx, c, old.ID, &changed.DatasetDraft, inline)
	if err != nil {
		return err
	}
	inUse, err := records.Get[record.TruthVersion](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
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
	inUse, err := records.Get[record.TruthVersion](ctx, c.Store, store.Strong, record.TruthKey(old.ID))
	if err != nil || inUse == nil {
		return err
	}
	inUse.Pool = changed.Pool
	c.Tx.Save(inUse, c.Now())
	changed.Reevaluate(c.Now())
	return nil
}
