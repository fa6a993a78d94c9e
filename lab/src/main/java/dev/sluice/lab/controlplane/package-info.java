/**
 * A real Kubernetes control plane on this machine, for demos, tests and benchmarks: store, API
 * server, controllers, scheduler, and simulated nodes. Input: a name, the desired nodes and the
 * programs. Output: a kubeconfig and handles of the running processes; stopping removes everything.
 */
@NullMarked
package dev.sluice.lab.controlplane;

import org.jspecify.annotations.NullMarked;
