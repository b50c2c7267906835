package server

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

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

// parseToken returns the place in the run that a token names. The id must be one.
func parseToken(runID, token string) (place, error) {
	var p place
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < len(runID)+4 {
		return p, badToken("is not one that this service gave out")
	}
	rest, sum := b[:len(b)-4], b[len(b)-4:]
	if crc32.ChecksumIEEE(rest) != binary.BigEndian.Uint32(sum) {
		return p, badToken("is garbled")
	}
	if string(rest[:len(runID)]) != runID {
		return p, badToken("is of another run")
	}
	rest = rest[len(runID):]
	for _, n := range []*int64{&p.version, &p.lines[0], &p.lines[1]} {
		v, size := binary.Uvarint(rest)
		if size <= 0 || int64(v) < 0 {
			return place{}, badToken("is garbled")
		}
		*n, rest = int64(v), rest[size:]
	}
	if p.token(runID) != token {
		return place{}, badToken("is garbled")
	}
	return p, nil
}

// of returns the error of a place that the run has not come to.
func (p place) of(run *record.RunItem) error {
	ahead := p.version > run.Version
	for i, k := range record.LogKinds {
		state, _, _ := run.Log(k)
		ahead = ahead || p.lines[i] > state.Lines
	}
	if ahead {
		return badToken("names a place that the run has not come to")
	}
	return nil
}

func badToken(fault string) error {
	return problem.InvalidCursor.New("The resume token cannot be used. Send the one of the last message that came, or none to begin anew.").
		With(problem.Field{Pointer: "/resumeToken", Detail: fault})
}
