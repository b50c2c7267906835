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

// position is what a watcher has received. It grants nothing, so forging one gains nothing.
type position struct {
	version int64           // of the run
	lines   [logCount]int64 // of each log, in the order of record.LogKinds
}

// token encodes the position as a resume token: the run's id, the numbers and a checksum.
func (p position) token(runID string) string {
	b := make([]byte, 0, 48)
	b = append(b, runID...)
	b = binary.AppendUvarint(b, uint64(p.version))
	for _, n := range p.lines {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken decodes a resume token for the run, or returns what is wrong with it.
func parseToken(runID, token string) (p position, faults []problem.Field) {
	const malformed = "was not sent by the server"
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) < len(runID)+crc32.Size {
		return p, badToken(malformed)
	}
	rest, sum := b[:len(b)-crc32.Size], b[len(b)-crc32.Size:]
	if crc32.ChecksumIEEE(rest) != binary.BigEndian.Uint32(sum) {
		return p, badToken(malformed)
	}
	if string(rest[:len(runID)]) != runID {
		return p, badToken("is of another run")
	}
	rest = rest[len(runID):]
	for _, n := range []*int64{&p.version, &p.lines[0], &p.lines[1]} {
		v, size := binary.Uvarint(rest)
		if size <= 0 || v > math.MaxInt64 {
			return position{}, badToken(malformed)
		}
		*n, rest = int64(v), rest[size:]
	}
	if p.version == 0 || p.token(runID) != token {
		return position{}, badToken(malformed)
	}
	return p, nil
}

// checkReached refuses a position that the run has not reached. Logs that the roles do not allow to read are ignored, since their
// length could reveal their content.
func (p position) checkReached(run *record.RunItem, roles access.Role) []problem.Field {
	ahead := p.version > run.Version
	for i, k := range record.LogKinds {
		ahead = ahead || run.ReadsLog(k, roles) && p.lines[i] > lineCount(run, k)
	}
	if ahead {
		return badToken("names a position that the run has not reached")
	}
	return nil
}

func badToken(fault string) []problem.Field {
	return []problem.Field{{Pointer: "/resume_token", Detail: fault + ": send the token of the last message that you received, or none to " +
		"begin again"}}
}
