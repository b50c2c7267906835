package access_test

import (
	"fmt"

	"assay/shared/domain/access"
)

// The owner of a submission and the organizers of its task see the submission. To everyone else it looks missing.
func ExampleDecide() {
	submission := access.Scope{OrganizerID: "lakes", TaskID: "fish", OwnerID: "ann", Audience: access.Owners}
	may := access.Owner | access.Organizer
	for _, c := range []struct {
		caller access.Caller
		grants access.Grants
	}{
		{access.Caller{ID: "ann"}, access.Grants{}},
		{access.Caller{ID: "olga"}, access.Grants{Memberships: []access.Membership{{OrganizerID: "lakes"}}}},
		{access.Caller{ID: "bob"}, access.Grants{}},
		{access.Caller{}, access.Grants{}},
	} {
		decision := access.Decide(may, access.Roles(c.caller, c.grants, submission), submission)
		fmt.Printf("%q: allowed %t, hidden %t\n", c.caller.ID, decision == access.Allow, decision == access.Hide)
	}
	// Output:
	// "ann": allowed true, hidden false
	// "olga": allowed true, hidden false
	// "bob": allowed false, hidden true
	// "": allowed false, hidden true
}

func ExampleRole_String() {
	fmt.Println(access.Owner | access.Organizer)
	fmt.Println(access.Role(0))
	// Output:
	// the team or the user that this belongs to and members of the organizer
	// nobody
}
