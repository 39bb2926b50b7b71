// SPDX-License-Identifier: GPL-2.0-only
/* CPU lists and NUMA nodes to affinity and memory policy. */
#define _GNU_SOURCE
#include <errno.h>
#include <numa.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "list.h"
#include "lockbench.h"

static void setup_cpus(struct options *o)
{
	int list[CPU_SETSIZE];
	int count;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		fail(EXIT_FAULT, "sched_getaffinity: %s", strerror(errno));
	o->cpus = allowed;
	if (!o->cpu_list)
		return;

	count = list_parse(o->cpu_list, 0, CPU_SETSIZE - 1, list, CPU_SETSIZE);
	if (count < 0)
		fail(EXIT_USAGE, "--cpus: '%s' is not a list like 0,2,4-7",
		     o->cpu_list);
	CPU_ZERO(&o->cpus);
	for (int i = 0; i < count; i++) {
		if (!CPU_ISSET(list[i], &allowed))
			fail(EXIT_USAGE, "--cpus: this process may not use CPU %d",
			     list[i]);
		CPU_SET(list[i], &o->cpus);
	}
}

/* The CPUs of @node among those of --cpus. */
static void node_cpus(const struct options *o, int node, cpu_set_t *set)
{
	struct bitmask *mask = numa_allocate_cpumask();

	CPU_ZERO(set);
	if (numa_node_to_cpus(node, mask) == 0)
		for (unsigned int i = 0; i < mask->size && i < CPU_SETSIZE; i++)
			if (numa_bitmask_isbitset(mask, i) &&
			    CPU_ISSET(i, &o->cpus))
				CPU_SET(i, set);
	numa_free_cpumask(mask);
}

static void setup_nodes(struct options *o)
{
	cpu_set_t set;

	if (!o->node_list)
		return;
	o->node_count = list_parse(o->node_list, 0, numa_max_node(), o->nodes,
				   MAX_NODES);
	if (o->node_count < 0)
		fail(EXIT_USAGE, "--nodes: '%s' is not a list of nodes from 0 to %d",
		     o->node_list, numa_max_node());
	for (int i = 0; i < o->node_count; i++) {
		if (!numa_bitmask_isbitset(numa_all_nodes_ptr, o->nodes[i]))
			fail(EXIT_USAGE, "--nodes: no memory on node %d",
			     o->nodes[i]);
		node_cpus(o, o->nodes[i], &set);
		if (!CPU_COUNT(&set))
			fail(EXIT_USAGE, "--nodes: none of the CPUs is on node %d",
			     o->nodes[i]);
	}
}

static void default_threads(struct options *o)
{
	int limit = 4 * place_cpu_count(o);

	for (int n = 1; n <= limit && n <= MAX_THREADS; n *= 2)
		o->threads[o->thread_counts++] = n;
}

void place_setup(struct options *o)
{
	setup_cpus(o);
	if ((o->node_list || o->interleave) && numa_available() < 0) {
		fprintf(stderr, "lockbench: no NUMA support in the kernel; "
			"--nodes and --interleave are ignored\n");
		o->node_list = NULL;
		o->interleave = false;
	}
	setup_nodes(o);
	if (!o->thread_counts)
		default_threads(o);
}

int place_cpu_count(const struct options *o)
{
	return CPU_COUNT(&o->cpus);
}

/* For the calling thread. */
void place_thread(const struct options *o, int index)
{
	cpu_set_t set = o->cpus;
	int err;

	if (!o->cpu_list && !o->node_count)
		return;
	if (o->node_count)
		node_cpus(o, o->nodes[index % o->node_count], &set);
	err = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (err)
		fail(EXIT_FAULT, "cannot set the CPUs of a thread: %s",
		     strerror(err));
}

static void *interleaved(const struct options *o, size_t size)
{
	struct bitmask *mask;
	void *mem;

	if (!o->node_count)
		return numa_alloc_interleaved(size);
	mask = numa_allocate_nodemask();
	for (int i = 0; i < o->node_count; i++)
		numa_bitmask_setbit(mask, o->nodes[i]);
	mem = numa_alloc_interleaved_subset(size, mask);
	numa_free_nodemask(mask);
	return mem;
}

/* Zeroed whole pages. */
void *place_alloc(const struct options *o, size_t size)
{
	void *mem;

	if (o->interleave)
		mem = interleaved(o, size);
	else if (o->node_count)
		mem = numa_alloc_onnode(size, o->nodes[0]);
	else
		mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!mem || mem == MAP_FAILED)
		fail(EXIT_FAULT, "cannot allocate %zu bytes", size);
	memset(mem, 0, size);
	return mem;
}

void place_free(void *mem, size_t size)
{
	munmap(mem, size);	/* also what numa_free() does */
}
