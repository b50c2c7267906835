package server

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"
)

// place is how far a watcher is: what it was sent. It says nothing of what its bearer may see, so nobody gains by making one.
type place struct {
	version int64       // of the run
	lines   [logs]int64 // of each log, in the order of record.LogKinds
}

// token returns the place in the run as it stands in a message: the run's id, the numbers and a checksum.
func (p place) token(runID string) string {
	b := make([]byte, 0, 48)
	b = append(b, runID...)
	b = binary.AppendUvarint(b, uint64(p.version))
	for _, n := range p.lines {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken returns the place in the run that a token names, or what is wrong with it.
func parseToken(runID, token string) (p place, faults []problem.Field) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) < len(runID)+crc32.Size {
		return p, badToken("is none that a message had")
	}
	rest, sum := b[:len(b)-crc32.Size], b[len(b)-crc32.Size:]
	if crc32.ChecksumIEEE(rest) != binary.BigEndian.Uint32(sum) {
		return p, badToken("is none that a message had")
	}
	if string(rest[:len(runID)]) != runID {
		return p, badToken("is of another run")
	}
	rest = rest[len(runID):]
	for _, n := range []*int64{&p.version, &p.lines[0], &p.lines[1]} {
		v, size := binary.Uvarint(rest)
		if size <= 0 || v > math.MaxInt64 {
			return place{}, badToken("is none that a message had")
		}
		*n, rest = int64(v), rest[size:]
	}
	if p.version == 0 || p.token(runID) != token {
		return place{}, badToken("is none that a message had")
	}
	return p, nil
}

// ahead says that the run has not come to the place, as far as one who has the roles may know: how long a log is that he may
// not read can tell of what is in it.
func (p place) ahead(run *record.RunItem, roles access.Role) []problem.Field {
	ahead := p.version > run.Version
	for i, k := range record.LogKinds {
		ahead = ahead || run.ReadsLog(k, roles) && p.lines[i] > counted(run, k)
	}
	if ahead {
		return badToken("names a place that the run has not come to")
	}
	return nil
}

func badToken(fault string) []problem.Field {
	return []problem.Field{{Pointer: "/resume_token", Detail: fault + ": send the one of the last message that came, or none to begin again"}}
}
