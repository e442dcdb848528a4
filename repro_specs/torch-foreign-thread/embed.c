/* Starts Python and adds up a tensor: embed WHO FOLDER.
   WHO: `python`, Python code in the main thread; `main`, the C API in it; `other`, the C API in a thread that Python has not made.
   torch is imported and used in the same thread, but between the two the thread lets go of Python, and gets another state. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int status = 1;

static const char *IMPORT = "import torch\nprint('torch', torch.__version__, flush=True)\n";
static const char *CODE = "assert torch.tensor([[1, 2], [3, 4]]).sum().item() == 10\nprint('right', flush=True)\n";

static void add_up(void) {
    PyObject *torch = PyImport_ImportModule("torch");
    PyObject *list = Py_BuildValue("[[ii][ii]]", 1, 2, 3, 4);
    PyObject *tensor = torch && list ? PyObject_CallMethod(torch, "tensor", "(O)", list) : NULL;
    PyObject *sum = tensor ? PyObject_CallMethod(tensor, "sum", NULL) : NULL;
    PyObject *number = sum ? PyObject_CallMethod(sum, "item", NULL) : NULL;
    if (!number) {
        PyErr_Print();
    } else if (PyLong_AsLong(number) == 10) {
        printf("right\n");
        status = 0;
    } else {
        fprintf(stderr, "wrong sum: %ld, expected 10\n", PyLong_AsLong(number));
    }
    fflush(NULL);
}

static void *run(void *nothing) {
    PyGILState_STATE held = PyGILState_Ensure();
    int failed = PyRun_SimpleString(IMPORT);
    PyGILState_Release(held);
    if (failed) return nothing;
    held = PyGILState_Ensure();
    add_up();
    PyGILState_Release(held);
    return nothing;
}

int main(int count, char **words) {
    char start[4096];
    if (count != 3) return 2;
    Py_InitializeEx(0);
    snprintf(start, sizeof start, "import sys\nsys.path.insert(0, '%s')\n", words[2]);
    if (PyRun_SimpleString(start)) return 1;
    if (strcmp(words[1], "python") == 0) {
        status = PyRun_SimpleString(IMPORT) || PyRun_SimpleString(CODE) ? 1 : 0;
    } else if (strcmp(words[1], "main") == 0) {
        if (!PyRun_SimpleString(IMPORT)) add_up();
    } else {
        pthread_t thread;
        PyThreadState *saved = PyEval_SaveThread();
        if (pthread_create(&thread, NULL, run, NULL)) return 2;
        pthread_join(thread, NULL);
        PyEval_RestoreThread(saved);
    }
    fflush(NULL);
    return status;
}
