package main

import "assay/shared/record"

// defaultQuotas are those of a server whose files are in the folder: all users together get three quarters of its disk, and
// one user a quarter of that, as far as that is less than the defaults of every server.
func defaultQuotas(folder string) record.Quotas {
	q := record.DefaultQuotas()
	if disk := diskSize(folder); disk > 0 {
		q.Server.StoredBytes = min(q.Server.StoredBytes, disk/4*3)
		q.User.StoredBytes = min(q.User.StoredBytes, q.Server.StoredBytes/4)
	}
	return q
}
