/**
 * A real Kubernetes control plane on this machine, for demos, tests and benchmarks: store, API
 * server, controllers, scheduler, and nodes that are played. A name, the wished nodes and the
 * programs enter. A kubeconfig and handles of the running processes leave, and nothing stays behind
 * when it is stopped.
 */
@NullMarked
package dev.sluice.lab.controlplane;

import org.jspecify.annotations.NullMarked;
