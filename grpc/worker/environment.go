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

// hideToken keeps the token from the processes of this user. The variables that a process was started with stay readable to them in
// /proc for as long as it runs. So a worker that finds its token there executes itself again without it, and hands the token over
// through a pipe; what is set afterwards does not show in /proc.
func hideToken() error {
	passed := os.Getenv(pipeVariable)
	if passed == "" {
		return errors.Join(restart(), hideMemory())
	}
	fd, err := strconv.ParseUint(passed, 10, 31)
	if err != nil {
		return errors.New(pipeVariable + " is the worker's own: unset it, and set " + tokenVariable)
	}
	pipe := os.NewFile(uintptr(fd), "token")
	token, err := io.ReadAll(pipe)
	return errors.Join(err, pipe.Close(), os.Unsetenv(pipeVariable), os.Setenv(tokenVariable, string(token)), hideMemory())
}

// restart returns when there is no token, or when it fails.
func restart() error {
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
	var pipe [2]int // unlike those of os.Pipe, these stay open across exec
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
