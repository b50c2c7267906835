package predictions

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// ReadHalves passes the id of each example and the name of its half, which is in the ValueField of the format, to take. The files may be
// truths of any kind. Their faults go to the report. The error is from reading or the context.
func ReadHalves(ctx context.Context, format measure.Format, files []measure.File, report *measure.Report, take measure.TakeHalf) error {
	counter := steps.Of(ctx)
	for _, content := range files {
		f := &file{name: content.Name, format: format, values: Labels, isOfAnyKind: true, report: report, counter: counter}
		err := f.read(ctx, content.Content, func(e example) bool {
			if e.sound {
				take(f.name, e.line, e.id, e.label)
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}
