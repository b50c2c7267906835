package api

import (
	"testing"

	"assay/shared/language/problem"

	"github.com/danielgtaylor/huma/v2"
)

// TestFieldOf_NamesAnOperationAsAPart has faulty ids of users, which say where users find theirs, and of another resource.
func TestFieldOf_NamesAnOperationAsAPart(t *testing.T) {
	for location, want := range map[string]bool{"userId": true, "members[0]": true, "members": false, "taskId": false} {
		f := fieldOf(&huma.ErrorDetail{Location: location, Message: "expected string to be " + idDescription})
		named := false
		for _, p := range f.Parts {
			named = named || p.Type == problem.OperationPart && p.Operation == problem.GetCurrentUser.ID
		}
		if named != want {
			t.Errorf("the fault of %s is %+v", location, f)
		}
	}
}
