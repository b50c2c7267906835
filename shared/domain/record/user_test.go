package record_test

import (
	"testing"
	"time"

	"assay/shared/domain/record"
)

func TestUser_RunsThePlatformWhileTheIssuerSaysSo(t *testing.T) {
	now, u := record.At(time.Now()).Time, new(record.User)
	if !u.SeeAdmin(true, now) || u.SeeAdmin(true, now.Add(time.Hour)) || !u.RunsPlatform(now.Add(30*record.Day)) {
		t.Error("one that the issuer names is none, or is stored each time")
	}
	if u.RunsPlatform(now.Add(31*record.Day)) || (*record.User)(nil).RunsPlatform(now) {
		t.Error("one of whom the issuer said nothing for a month is one still")
	}
	if !u.SeeAdmin(false, now) || u.RunsPlatform(now) || u.SeeAdmin(false, now) {
		t.Error("one that the issuer no longer names is one still")
	}
}
