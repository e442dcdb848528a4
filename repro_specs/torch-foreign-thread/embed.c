/* Starts Python and runs argv[2] in the main thread ("main") or in one that Python has not made ("other"). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <string.h>

static int status;

static void *run(void *code) {
    PyGILState_STATE held = PyGILState_Ensure();
    status = PyRun_SimpleString((const char *)code);
    PyGILState_Release(held);
    return NULL;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    Py_InitializeEx(0);
    if (strcmp(words[1], "main") == 0) {
        run(words[2]);
    } else {
        pthread_t thread;
        PyThreadState *saved = PyEval_SaveThread();
        if (pthread_create(&thread, NULL, run, words[2])) return 2;
        pthread_join(thread, NULL);
        PyEval_RestoreThread(saved);
    }
    return status ? 1 : 0;
}
