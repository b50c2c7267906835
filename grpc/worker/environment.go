package main

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// pipeVariable names the descriptor that a restarted worker reads its token from.
const pipeVariable = prefix + "TOKEN_PIPE"

const maxToken = 32 << 10 // fits into a pipe that nobody reads yet

// environment returns a lookup of variables that alone has the token. The variables that a process was started with stay
// readable to the processes of its user in /proc for as long as it runs. So a worker that finds its token there executes itself
// again without it, and hands the token over through a pipe.
func environment() (func(string) string, error) {
	if token := os.Getenv(tokenVariable); token != "" {
		return nil, restart(token)
	}
	if err := hideMemory(); err != nil {
		return nil, err
	}
	passed := os.Getenv(pipeVariable)
	if passed == "" {
		return os.Getenv, nil
	}
	fd, err := strconv.ParseUint(passed, 10, 31)
	if err != nil {
		return nil, errors.New(pipeVariable + " is the worker's own: unset it, and set " + tokenVariable)
	}
	pipe := os.NewFile(uintptr(fd), "token")
	token, err := io.ReadAll(io.LimitReader(pipe, maxToken))
	if err := errors.Join(err, pipe.Close(), os.Unsetenv(pipeVariable)); err != nil {
		return nil, err
	}
	return func(name string) string {
		if name == tokenVariable {
			return string(token)
		}
		return os.Getenv(name)
	}, nil
}

// restart returns only when it fails.
func restart(token string) error {
	if len(token) > maxToken {
		return errors.New("the token in " + tokenVariable + " is too long to be one")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := w.WriteString(token); err != nil {
		return err
	}
	fd, err := syscall.Dup(int(r.Fd())) // unlike r, a duplicate stays open across exec
	if err != nil {
		return err
	}
	if err := errors.Join(w.Close(), os.Unsetenv(tokenVariable), os.Setenv(pipeVariable, strconv.Itoa(fd))); err != nil {
		return err
	}
	return os.NewSyscallError("exec", syscall.Exec(self, os.Args, os.Environ())) //nolint:gosec // it is this program itself
}
