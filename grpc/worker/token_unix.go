//go:build !windows

package main

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// pipeVariable names the file descriptor from which a re-executed worker reads its token.
const pipeVariable = prefix + "TOKEN_PIPE"

const maxToken = 32 << 10 // fits into a pipe that nobody reads yet

// hideToken hides the token from other processes of this user. They can read in /proc the variables with which a process was started. So
// a worker with a token in its environment executes itself again without it, and passes the token through a pipe.
func hideToken() error {
	passed := os.Getenv(pipeVariable)
	if passed == "" {
		return errors.Join(reexec(), hideMemory())
	}
	fd, err := strconv.ParseUint(passed, 10, 31)
	if err != nil {
		return errors.New(pipeVariable + " is the worker's own: unset it, and set " + tokenVariable)
	}
	pipe := os.NewFile(uintptr(fd), "token")
	token, err := io.ReadAll(pipe)
	return errors.Join(err, pipe.Close(), os.Unsetenv(pipeVariable), os.Setenv(tokenVariable, string(token)), hideMemory())
}

// reexec executes the worker again without the token. It returns if there is no token, or with an error.
func reexec() error {
	token := os.Getenv(tokenVariable)
	if token == "" {
		return nil
	}
	if len(token) > maxToken {
		return errors.New("the token in " + tokenVariable + " is too long to be one")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var pipe [2]int // unlike pipes of os.Pipe, it remains open across exec
	if err := syscall.Pipe(pipe[:]); err != nil {
		return err
	}
	if _, err := syscall.Write(pipe[1], []byte(token)); err != nil {
		return err
	}
	if err := errors.Join(syscall.Close(pipe[1]), os.Unsetenv(tokenVariable), os.Setenv(pipeVariable, strconv.Itoa(pipe[0]))); err != nil {
		return err
	}
	return os.NewSyscallError("exec", syscall.Exec(self, os.Args, os.Environ())) //nolint:gosec // it is this program itself
}
