/* The numeric kernel of the near-isotonic path: merging.merge_in_python in C.

   That function is the reference. This code performs the same floating-point operations in the
   same order, so its results are bit-identical. Arrays are passed through the buffer protocol,
   and only the stable ABI is used, so the code needs no NumPy headers, and one build works with
   all versions of Python. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdlib.h>

/* The forest, with space for 2 n_leaves - 1 nodes. The leaves come first. */
typedef struct {
    Py_ssize_t *start, *stop;
    double *weight, *total, *mean, *slope;
    Py_ssize_t *parts; /* two nodes per merge */
    double *merged_at;
} Forest;

/* The neighbors a and b meet at lambda = meets. */
typedef struct {
    double meets;
    Py_ssize_t a, b;
} Event;

/* Lexicographic order of (meets, a, b). No two events are equal. */
static int
comes_before(Event x, Event y)
{
    if (x.meets != y.meets)
        return x.meets < y.meets;
    return x.a != y.a ? x.a < y.a : x.b < y.b;
}

/* Move the hole down the heap to where the event belongs, and put the event there. */
static void
sift_down(Event *heap, Py_ssize_t size, Py_ssize_t hole, Event event)
{
    Py_ssize_t child;
    while ((child = 2 * hole + 1) < size) {
        if (child + 1 < size && comes_before(heap[child + 1], heap[child]))
            child++;
        if (!comes_before(heap[child], event))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = event;
}

/* Move the hole up the heap to where the event belongs, and put the event there. */
static void
sift_up(Event *heap, Py_ssize_t hole, Event event)
{
    while (hole > 0) {
        Py_ssize_t parent = (hole - 1) / 2;
        if (!comes_before(event, heap[parent]))
            break;
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = event;
}

/* Return the lambda at which neighbors a and b meet; lam if they are already equal. */
static double
meeting(const Forest *f, Py_ssize_t a, Py_ssize_t b, double lam, double equal_values)
{
    double move_a = lam * f->slope[a], move_b = lam * f->slope[b];
    double size = fabs(f->mean[a]) + fabs(f->mean[b]) + fabs(move_a) + fabs(move_b);
    if (lam > 0.0 && fabs(f->mean[a] + move_a - f->mean[b] - move_b) <= equal_values * size)
        return lam;
    double closing = f->slope[a] - f->slope[b];
    return closing != 0.0 ? (f->mean[b] - f->mean[a]) / closing : INFINITY;
}

/* Merge neighboring groups until no more of them meet, and return the number of merges.

   left, right and falls have space for all nodes. The heap has space for two events per leaf:
   a merge removes one event and adds at most two. */
static Py_ssize_t
merge_leaves(const Forest *f, Py_ssize_t n_leaves, Py_ssize_t *left, Py_ssize_t *right,
             char *falls, Event *heap, double equal_values, double equal_lambdas)
{
    for (Py_ssize_t g = 0; g < n_leaves; g++) {
        left[g] = g - 1;
        right[g] = g + 1 < n_leaves ? g + 1 : -1;
        falls[g] = g + 1 < n_leaves && f->mean[g] > f->mean[g + 1];
        f->slope[g] = ((g > 0 && falls[g - 1]) - falls[g]) / f->weight[g];
    }

    Py_ssize_t size = 0;
    for (Py_ssize_t g = 0; g + 1 < n_leaves; g++) {
        Event event = {meeting(f, g, g + 1, 0.0, equal_values), g, g + 1};
        if (event.meets < INFINITY)
            heap[size++] = event;
    }
    for (Py_ssize_t i = size / 2 - 1; i >= 0; i--)
        sift_down(heap, size, i, heap[i]);

    double lam = 0.0;
    Py_ssize_t n_merges = 0;
    while (size > 0) {
        Event next = heap[0];
        size--;
        if (size > 0)
            sift_down(heap, size, 0, heap[size]);
        Py_ssize_t a = next.a, b = next.b;
        if (right[a] != b || left[b] != a)
            continue; /* outdated: a or b has merged with its other neighbor */
        if (next.meets > lam * (1 + equal_lambdas))
            lam = next.meets;

        Py_ssize_t merged = n_leaves + n_merges, before = left[a], after = right[b];
        f->start[merged] = f->start[a];
        f->stop[merged] = f->stop[b];
        f->weight[merged] = f->weight[a] + f->weight[b];
        f->total[merged] = f->total[a] + f->total[b];
        f->mean[merged] = f->total[merged] / f->weight[merged];
        f->slope[merged] = ((before >= 0 && falls[before]) - falls[b]) / f->weight[merged];
        left[merged] = before;
        right[merged] = after;
        falls[merged] = falls[b];
        f->parts[2 * n_merges] = a;
        f->parts[2 * n_merges + 1] = b;
        f->merged_at[n_merges] = lam;
        n_merges++;

        if (before >= 0) {
            right[before] = merged;
            Event event = {meeting(f, before, merged, lam, equal_values), before, merged};
            if (event.meets < INFINITY)
                sift_up(heap, size++, event);
        }
        if (after >= 0) {
            left[after] = merged;
            Event event = {meeting(f, merged, after, lam, equal_values), merged, after};
            if (event.meets < INFINITY)
                sift_up(heap, size++, event);
        }
    }
    return n_merges;
}

#define N_ARRAYS 8

/* merge(start, stop, weight, total, mean, slope, parts, merged_at, equal_values,
         equal_lambdas) -> number of merges

   Fills in the nodes after the leaves, the slopes of all nodes, and the merges. */
static PyObject *
merge(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *arrays[N_ARRAYS];
    double equal_values, equal_lambdas;
    if (!PyArg_ParseTuple(args, "OOOOOOOOdd", &arrays[0], &arrays[1], &arrays[2], &arrays[3],
                          &arrays[4], &arrays[5], &arrays[6], &arrays[7], &equal_values,
                          &equal_lambdas))
        return NULL;

    Py_buffer views[N_ARRAYS];
    PyObject *result = NULL;
    int n_views = 0;
    while (n_views < N_ARRAYS) {
        if (PyObject_GetBuffer(arrays[n_views], &views[n_views], PyBUF_CONTIG) < 0)
            goto release;
        n_views++;
    }
    Py_ssize_t n_nodes = views[0].len / (Py_ssize_t)sizeof(Py_ssize_t);
    Py_ssize_t n_leaves = (n_nodes + 1) / 2;
    for (int i = 0; i < N_ARRAYS; i++) {
        Py_ssize_t length = i < 6 ? 2 * n_leaves - 1 : i == 6 ? 2 * (n_leaves - 1) : n_leaves - 1;
        int is_index = i < 2 || i == 6;
        Py_ssize_t item = is_index ? (Py_ssize_t)sizeof(Py_ssize_t) : (Py_ssize_t)sizeof(double);
        if (n_nodes < 1 || views[i].itemsize != item || views[i].len != length * item) {
            PyErr_Format(PyExc_ValueError, "Array %d has the wrong length or type.", i);
            goto release;
        }
    }
    Forest forest = {views[0].buf, views[1].buf, views[2].buf, views[3].buf,
                     views[4].buf, views[5].buf, views[6].buf, views[7].buf};

    Py_ssize_t *links = malloc((size_t)n_nodes * 2 * sizeof(Py_ssize_t));
    char *falls = malloc((size_t)n_nodes);
    Event *heap = malloc((size_t)n_leaves * 2 * sizeof(Event));
    if (links && falls && heap) {
        Py_ssize_t n_merges;
        Py_BEGIN_ALLOW_THREADS
        n_merges = merge_leaves(&forest, n_leaves, links, links + n_nodes, falls, heap,
                                equal_values, equal_lambdas);
        Py_END_ALLOW_THREADS
        result = PyLong_FromSsize_t(n_merges);
    }
    else
        PyErr_NoMemory();
    free(links);
    free(falls);
    free(heap);
release:
    while (n_views > 0)
        PyBuffer_Release(&views[--n_views]);
    return result;
}

static PyMethodDef methods[] = {
    {"merge", merge, METH_VARARGS, "Merge neighboring groups of a near-isotonic path."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_merging", "The compiled kernel of calibrant._core.merging.", 0,
    methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__merging(void)
{
    return PyModuleDef_Init(&module);
}
