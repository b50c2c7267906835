package record

import (
	"crypto/sha256"
	"net/mail"
	"strings"
	"time"

	"assay/shared/storage/store"

	"github.com/oklog/ulid/v2"
)

// MaxAddressBytes is the greatest length of an e-mail address (RFC 5321, section 4.5.3.1.3, without its brackets).
const MaxAddressBytes = 254

// NoAddress tells users the effect of not having a confirmed e-mail address.
const NoAddress = "No confirmed address: no e-mail is sent to you, and organizers are shown no address. If your sign-in can " +
	"confirm an address, confirm yours there, sign in again, and change something."

// IsAddress reports whether the text is one e-mail address (RFC 5322, addr-spec), without name, quotes or brackets, and fit for one
// line.
func IsAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= MaxAddressBytes && !strings.ContainsAny(s, "\"[] \t") && len(CheckLine("", s)) == 0
}

// AddressID returns the ID that represents an e-mail address where other records have the ID of a user.
func AddressID(address string) string {
	sum := sha256.Sum256([]byte("mailto:" + strings.ToLower(address)))
	return ulid.ULID(sum[:16]).String()
}

// LastMail records when an e-mail was last sent to an address, for any user, in UpdatedAt. So several users with one address together
// get no more e-mails than one user.
type LastMail struct{ Meta } // ID is the AddressID

// NextMail returns when the next e-mail may be sent to the address. A nil LastMail allows one at any time.
func (m *LastMail) NextMail() time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.UpdatedAt.Add(MailInterval)
}

// LastMailKey returns the key of the LastMail of an address.
func LastMailKey(addressID string) store.Key {
	return store.Key{Partition: "LASTMAIL#" + addressID, Sort: "SENT"}
}

// Key implements Record.
func (m *LastMail) Key() store.Key { return LastMailKey(m.ID) }

// Expiry returns when the store deletes the record.
func (m *LastMail) Expiry() time.Time { return m.NextMail() }
