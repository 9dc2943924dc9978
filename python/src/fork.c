// Processes that are forked for workers of a DataLoader (_forker.py, _forking.py).

#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

// os.fork() without its warning of other threads, which is for callers who have not looked.
static PyObject* fork_program(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  fflush(NULL);  // else both have what is not written yet
  PyOS_BeforeFork();
  const pid_t pid = fork();
  const int error = errno;
  if (pid == 0)
    PyOS_AfterFork_Child();
  else
    PyOS_AfterFork_Parent();
  errno = error;
  return pid < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromLong(pid);
}

// What the kernel does for fork() of the C library, for a child of this process's parent. This
// process is a child of fork() with one thread, so that no lock is held, and handlers of fork()
// have done what they do in a child already.
static long clone_sibling(int* pidfd) {
  int* tid = NULL;  // where the C library keeps the thread's number
  unsigned long flags = CLONE_PARENT | CLONE_PIDFD | SIGCHLD;
  if (prctl(PR_GET_TID_ADDRESS, &tid) == 0 && tid != NULL)
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
#if defined(__x86_64__)
  return syscall(SYS_clone, flags, 0, pidfd, tid, 0);
#else
  return syscall(SYS_clone, flags, 0, pidfd, 0, tid);
#endif
}

static PyObject* clone_worker(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  int pidfd = -1;
  PyOS_BeforeFork();
  const long pid = clone_sibling(&pidfd);
  const int error = errno;
  if (pid == 0)
    PyOS_AfterFork_Child();
  else
    PyOS_AfterFork_Parent();
  errno = error;
  if (pid < 0) return PyErr_SetFromErrno(PyExc_OSError);
  return Py_BuildValue("(li)", pid, pid == 0 ? -1 : pidfd);
}

static PyObject* end_with(PyObject* module, PyObject* argument) {
  (void)module;
  const long parent = PyLong_AsLong(argument);
  if (PyErr_Occurred()) return NULL;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return PyErr_SetFromErrno(PyExc_OSError);
  if (getppid() != parent) _exit(0);  // it ended before that
  Py_RETURN_NONE;
}

// The memory that `ps` reads: fields 48 and 49 of /proc/self/stat, behind the name in brackets.
static char* arguments_of_process(size_t* bytes) {
  char text[2048];
  FILE* file = fopen("/proc/self/stat", "re");
  if (file == NULL) return NULL;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  char* at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 48; ++field) at = strchr(at + 1, ' ');
  if (at == NULL) return NULL;
  const unsigned long begin = strtoul(at, &at, 10);
  const unsigned long end = strtoul(at, &at, 10);
  *bytes = end > begin ? end - begin : 0;
  return *bytes == 0 ? NULL : (char*)begin;
}

static PyObject* set_title(PyObject* module, PyObject* arguments) {
  (void)module;
  const char* title = NULL;
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "ss", &title, &name)) return NULL;
  prctl(PR_SET_NAME, name);
  size_t room = 0;
  char* there = arguments_of_process(&room);
  if (there == NULL) Py_RETURN_NONE;
  const size_t size = strlen(title) < room ? strlen(title) : room - 1;
  memcpy(there, title, size);
  memset(there + size, 0, room - size);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"fork", fork_program, METH_NOARGS, "Same as os.fork()."},
    {"clone", clone_worker, METH_NOARGS,
     "Forks a child of this process's parent: (its pid, its pidfd); (0, -1) in the child."},
    {"end_with", end_with, METH_O, "end_with(parent): kills this process when the parent ends."},
    {"set_title", set_title, METH_VARARGS,
     "set_title(title, name): sets the text that `ps` shows."},
    {NULL, NULL, 0, NULL},
};

int add_fork_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }
