package retrieval

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
)

// ReadHalves passes the topic of each line and the name of its half to take. Comments are like in qrels. Faults of the files go to the
// report. The error is from reading or the context.
func ReadHalves(ctx context.Context, files []measure.File, report *measure.Report, take measure.TakeHalf) error {
	var parts [2][]byte
	for _, f := range files {
		in := lines.NewReader(ctx, f.Name, f.Content, report)
		isEmpty := true
		for in.Scan() {
			n := fields.Split(in.Text(), parts[:])
			switch {
			case n == 0 || fields.IsComment(parts[0]):
				continue
			case n == len(parts):
				take(f.Name, in.Number(), parts[0], parts[1])
			default:
				report.Errorf(f.Name, in.Number(), "the line has another number of fields than two; expected a topic and its half, separated by "+
					"spaces or tabs")
			}
			isEmpty = false
		}
		if err := in.Err(); err != nil {
			return err
		}
		if isEmpty && !report.Failed() {
			report.Errorf(f.Name, 0, "the file is empty; expected a topic and its half in each line")
		}
	}
	return nil
}
