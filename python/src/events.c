// Events of a run.

#include "common.h"

typedef struct {
  PyObject_HEAD brigade_events* events;
} Events;

static PyTypeObject* events_type;

static PyObject* events_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments;
  (void)keywords;
  Events* self = (Events*)PyType_GenericAlloc(type, 0);
  const brigade_status status = self == NULL ? BRIGADE_OK : brigade_events_open(&self->events);
  if (!status) return (PyObject*)self;
  Py_DECREF((PyObject*)self);
  return raise_status(status, NULL);
}

static void events_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  brigade_events_close(((Events*)object)->events);
  PyObject_Free(object);
  Py_DECREF(type);
}

brigade_events* events_handle(PyObject* object) {
  if (object == Py_None) return NULL;
  if (PyObject_TypeCheck(object, events_type)) return ((Events*)object)->events;
  PyErr_Format(PyExc_TypeError, "expected Events, found %R", (PyObject*)Py_TYPE(object));
  return NULL;
}

// What is not known, is None.
static PyObject* number_of(uint64_t number) {
  return number == BRIGADE_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(number);
}

// next(): the members in the order of brigade._events.Event; None: there is nothing now; False:
// nothing more comes. It does not wait: with the GIL, until its text has been copied.
static PyObject* events_next(PyObject* object, PyObject* none) {
  (void)none;
  brigade_event event = {.size = sizeof event};
  const brigade_status status = brigade_events_next(((Events*)object)->events, 0, &event);
  if (status == BRIGADE_TIMEOUT) Py_RETURN_NONE;
  if (status == BRIGADE_END) Py_RETURN_FALSE;
  if (status) return raise_status(status, NULL);
  return Py_BuildValue(
      "iiLKNNNNNiiiiiiiiLLLNNNNKK", event.kind, event.level, (long long)event.time_ns,
      (unsigned long long)event.lost, text_of(event.stage), text_of(event.text),
      text_of(event.message), text_of(event.output), text_of(event.reason), event.replica,
      event.pid, event.signal, event.exit_code, event.next, event.restarts, event.restarts_max,
      event.deaths, (long long)event.within_ns, (long long)event.delay_ns,
      (long long)event.duration_ns, number_of(event.sample), number_of(event.sample_epoch),
      number_of(event.sample_index), number_of(event.sample_id), (unsigned long long)event.samples,
      (unsigned long long)event.epoch);
}

static PyObject* events_fileno(PyObject* object, PyObject* none) {
  (void)none;
  return PyLong_FromLong(brigade_events_descriptor(((Events*)object)->events));
}

static PyMethodDef events_methods[] = {
    {"next", events_next, METH_NOARGS,
     "The fields of the next event; None if there is none yet, False at the end."},
    {"fileno", events_fileno, METH_NOARGS,
     "Descriptor that is readable when next() does not return None."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot events_slots[] = {
    {Py_tp_new, events_new},
    {Py_tp_dealloc, events_dealloc},
    {Py_tp_methods, events_methods},
    {Py_tp_doc, "Events(): the events of the run that Graph.start() is called with."},
    {0, NULL},
};
static PyType_Spec events_spec = {"brigade._brigade.Events", sizeof(Events), 0, Py_TPFLAGS_DEFAULT,
                                  events_slots};

int add_events_types(PyObject* module) {
  events_type = add_type(module, &events_spec);
  return events_type == NULL ? -1 : 0;
}
