package submissions

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/files"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// submission finds the submission that the path names, in the task that the path names.
func submission(ctx context.Context, c *api.Call) (*record.SubmissionItem, error) {
	s, err := visibility.Find[record.SubmissionItem](ctx, &c.Viewer, c.Param("submissionId"), record.SubmissionKey)
	if err == nil && s.TaskID != c.Param("taskId") {
		return nil, visibility.Missing
	}
	return s, err
}

// show returns the submission as the caller sees it. Its team and the organizers also get the files of its runs.
func show(ctx context.Context, c *api.Call, s *record.SubmissionItem) (*record.Submission, error) {
	roles, err := c.Roles(ctx, s.Scope())
	if err != nil {
		return nil, err
	}
	v := s.For(roles)
	if s.Type != record.UploadType || roles&(access.Owner|access.Organizer|access.Admin) == 0 {
		return &v, nil
	}
	runs, err := records.GetExisting[record.RunItem](ctx, c.Store, c.Consistency, s.RunIDs, record.RunKey)
	if err != nil {
		return nil, err
	}
	v.Files, err = filesOf(ctx, c, runs, roles)
	return &v, err
}

// filesOf lists the files of the runs, with the links for a caller with the roles.
func filesOf(ctx context.Context, c *api.Call, runs []*record.RunItem, roles access.Role) ([]record.RunFile, error) {
	var all []record.RunFile
	for _, r := range runs {
		links := files.Links{Objects: c.Files, Now: c.Now(), Download: true, Upload: roles&access.Owner != 0 && r.State == record.AwaitingUpload}
		linked, err := links.Sign(ctx, record.HolderRuns, r.ID, r.Files)
		if err != nil {
			return nil, err
		}
		for _, f := range linked {
			all = append(all, record.RunFile{DatasetID: r.DatasetID, File: f})
		}
	}
	return all, nil
}
