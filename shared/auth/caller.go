package auth

import (
	"context"
	"slices"

	"assay/shared/access"
)

// The groups of tokens that give a role on the whole platform.
const (
	groupAdmins  = "admins"
	groupWorkers = "workers"
)

// Caller returns who the identity is to the platform.
func (i Identity) Caller() access.Caller {
	return access.Caller{
		ID: i.UserID(), Name: i.Name, Username: i.Username, Email: i.Email,
		Admin: slices.Contains(i.Groups, groupAdmins), Worker: slices.Contains(i.Groups, groupWorkers),
	}
}

// Caller verifies a token and returns who its bearer is to the platform. Its errors are those of Verify.
func (v *Verifier) Caller(ctx context.Context, token string) (access.Caller, error) {
	who, err := v.Verify(ctx, token)
	if err != nil {
		return access.Caller{}, err
	}
	return who.Caller(), nil
}
